from services.agent_memory.app import create
from services.agent_memory.settings import Settings
from shared.telemetry import log, tracing
from shared.web.serving.server import serve

if __name__ == "__main__":
    settings = Settings.from_env()
    log.configure("agent-memory", settings.log_level)
    tracing.start("agent-memory", settings.tracing)
    serve(create(settings), settings.host, settings.port, settings.linger_seconds)
