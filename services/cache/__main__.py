from services.cache.app import create
from services.cache.settings import Settings
from shared.web.serving.start import start

if __name__ == "__main__":
    start("cache", Settings.from_env, create)
