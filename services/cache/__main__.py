from services.cache.app import create
from services.cache.settings import Settings
from shared.telemetry import log, tracing
from shared.web.serving.server import serve

if __name__ == "__main__":
    settings = Settings.from_env()
    log.configure("cache", settings.log_level)
    tracing.start("cache", settings.tracing)
    serve(create(settings), settings.host, settings.port, settings.linger_seconds)
