from services.agent_memory.app import create
from services.agent_memory.settings import Settings
from shared.web.serving.start import start

if __name__ == "__main__":
    start("agent-memory", Settings.from_env, create)
