"""Postgres and Redis in containers, with the same handles as the embedded pair.

Imported only where a Docker engine is to be asked.
"""

import os
from collections.abc import Callable

# The fixtures remove what they start; the reaper would be one more image to fetch. Read at import.
os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")

import docker  # type: ignore[import-untyped]
from docker.errors import DockerException  # type: ignore[import-untyped]
from testcontainers.community.postgres import PostgresContainer
from testcontainers.community.redis import RedisContainer
from testcontainers.core.container import DockerContainer

from local.process import free_port, wait_for

POSTGRES_IMAGE = "pgvector/pgvector:pg17"
REDIS_IMAGE = "redis:7"
_PASSWORD = "tests-only"


def engine_answers() -> bool:
    try:
        return bool(docker.from_env(timeout=5).ping())
    except DockerException:
        return False


class _Server:
    """The port is a fixed one: a restarted container would get another."""

    def __init__(self, container: DockerContainer, inner_port: int, ready: Callable[[], bool]) -> None:
        self.port = free_port()
        self._container = container.with_bind_ports(inner_port, self.port)
        self._ready = ready
        self._created = False

    def start(self) -> None:
        if self._created:
            self._container.get_wrapped_container().start()
        else:
            self._container.start()
            self._created = True
        if not wait_for(self._ready, 60, every=0.1):
            raise TimeoutError("the container was not ready within 60 s")

    def stop(self) -> None:
        self._container.get_wrapped_container().stop()

    def kill(self) -> None:
        self._container.get_wrapped_container().kill()

    def sigstop(self) -> None:
        self._container.get_wrapped_container().pause()

    def sigcont(self) -> None:
        self._container.get_wrapped_container().unpause()

    def remove(self) -> None:
        self._container.stop()


class ContainerPostgres(_Server):
    def __init__(self) -> None:
        container = PostgresContainer(POSTGRES_IMAGE, username="postgres", password=_PASSWORD, driver=None)
        # As the embedded one: a kill loses nothing without fsync either, a power cut does not come.
        settings = [
            *("max_connections=200", "fsync=off", "full_page_writes=off"),
            "shared_preload_libraries=pg_stat_statements",
        ]
        command = " ".join(["postgres", *(f"-c {setting}" for setting in settings)])
        super().__init__(container.with_command(command), 5432, self._is_ready)

    def dsn(self, database: str = "postgres", role: str = "postgres") -> str:
        return f"postgresql://{role}:{_PASSWORD}@127.0.0.1:{self.port}/{database}"

    def _is_ready(self) -> bool:
        # With -h: during its first start the image serves the Unix socket alone, and then restarts.
        return self._container.exec(["pg_isready", "-q", "-h", "127.0.0.1"]).exit_code == 0


class ContainerRedis(_Server):
    def __init__(self) -> None:
        container = RedisContainer(REDIS_IMAGE, password=_PASSWORD)
        super().__init__(container, 6379, self._is_ready)

    @property
    def url(self) -> str:
        return f"redis://:{_PASSWORD}@127.0.0.1:{self.port}/0"

    def _is_ready(self) -> bool:
        answer = self._container.exec(["redis-cli", "--no-auth-warning", "-a", _PASSWORD, "ping"])
        return b"PONG" in answer.output
