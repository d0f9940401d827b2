"""The whole cluster on this machine: servers, migrations, services, sample data."""

import asyncio
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from local import sample, shell
from local.console import say, step
from local.database import NAME, create_database, create_roles, migrate
from local.process import LocalError, Server, free_port, port_is_free, stop_together
from local.revisions import foreign_revision
from local.servers import Postgres, Valkey, make_folder, reachable, write_private
from local.services import NAMES, PORTS, Service, Tokens, variables

_KEPT_LOG_BYTES = 10 * 2**20


@dataclass(frozen=True)
class Stores:
    """A DSN for migrations and for each service, Redis, and the file that says whether samples are loaded.

    `place` names where the database is.
    """

    place: str
    owner: str
    services: Mapping[str, str]
    redis_url: str
    sample_state: Path


class Stack:
    """Starts everything in order, watches it, and stops it in reverse order.

    `settings` are environment variables. If DATABASE_URL or REDIS_URL is set, the stack does not start that server.
    """

    def __init__(self, data: Path, settings: Mapping[str, str]) -> None:
        self.data = data
        self.logs = data / "logs"
        self.shell = data / "env"
        self.stopping = False
        self.hurried = False
        self.services: dict[str, Service] = {}
        self._settings = shell.without(self.shell, settings)
        self._servers: list[Server] = []
        self._lock: IO[str] | None = None

    def start(self) -> None:
        make_folder(self.data)
        self._take_lock()
        self.logs.mkdir(mode=0o700, exist_ok=True)
        self._rotate_logs()
        stores = self._open_stores()
        with step("migrations"):
            self._refuse_foreign(stores)
            migrate(stores.owner, self.logs / "migrations.log", grants=not self._settings.get("DATABASE_URL"))
        self.tokens = self._kept_tokens()
        self._start_services(stores)
        self._load_sample(stores.sample_state)

    def watch(self, until: Callable[[], bool]) -> None:
        """Raises ProcessFailedError when a process ends by itself."""
        while not until():
            for server in (*self._servers, *self.services.values()):
                if not server.running:
                    raise server.failure(f"ended with {server.returncode}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Stops context, then the services it calls, then the servers. `hurried` kills the services."""
        self.stopping = True
        doors = [service for name, service in self.services.items() if name == "context"]
        inner = [service for name, service in self.services.items() if name != "context"]
        if self.services:
            with step("stopping the services"):
                stop_together(doors, lambda: self.hurried)
                stop_together(inner, lambda: self.hurried)
        for server in reversed(self._servers):
            with step(f"stopping {server.name}"):
                server.stop()
        if self._lock:
            self._lock.close()

    def _take_lock(self) -> None:
        self._lock = (self.data / "lock").open("a+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            raise LocalError(f"a stack already runs on {self.data} (process {self._lock.read()})") from None
        self._lock.truncate(0)
        self._lock.write(str(os.getpid()))
        self._lock.flush()

    def _rotate_logs(self) -> None:
        for log in self.logs.glob("*.log"):
            if log.stat().st_size > _KEPT_LOG_BYTES:
                log.replace(log.with_suffix(".log.1"))

    def _open_stores(self) -> Stores:
        if url := self._settings.get("DATABASE_URL"):
            say("  PostgreSQL: the one at DATABASE_URL")
            place, owner, services = "the database at DATABASE_URL", url, dict.fromkeys(NAMES, url)
            state = self.data / f"sample-{hashlib.sha256(url.encode()).hexdigest()[:12]}.json"
        else:
            postgres = Postgres(self._postgres_folder(), logs=self.logs)
            self._run_server(postgres)
            asyncio.run(create_roles(postgres.dsn()))
            database = asyncio.run(create_database(postgres.dsn(), NAME))
            place, owner, services = str(postgres.base), database.owner, database.services
            state = postgres.base / "sample.json"
        if redis_url := self._settings.get("REDIS_URL"):
            say("  Redis: the one at REDIS_URL")
        else:
            valkey = Valkey(self.data / "valkey", logs=self.logs)
            self._run_server(valkey)
            redis_url = valkey.url
        return Stores(place=place, owner=owner, services=services, redis_url=redis_url, sample_state=state)

    @staticmethod
    def _refuse_foreign(stores: Stores) -> None:
        if revision := asyncio.run(foreign_revision(stores.owner)):
            raise LocalError(
                f"Another version of Scrubjay made this database (revision {revision}), and this version cannot"
                f" upgrade it. Remove {stores.place} and start again; its data will be lost."
            )

    def _run_server(self, server: Server) -> None:
        with step(f"{server.name} on 127.0.0.1:{server.port}"):
            self._servers.append(server)
            server.start()

    def _postgres_folder(self) -> Path:
        """In the data folder. If that is private (a clone in /root), a folder that root's servers can enter."""
        folder = self.data / "postgres"
        if os.path.lexists(folder) or reachable(self.data):
            return folder.resolve()
        elsewhere = Path("/var/lib") / f"scrubjay-{hashlib.sha256(bytes(self.data)).hexdigest()[:12]}"
        say(f"  PostgreSQL does not run as root, and its user cannot enter {self.data}:")
        say(f"  the database is kept in {elsewhere}, and {folder} links to it")
        make_folder(elsewhere)
        folder.symlink_to(elsewhere)
        return elsewhere

    def _kept_tokens(self) -> Tokens:
        path = self.data / "tokens.json"
        made = asdict(Tokens.make())
        kept = json.loads(path.read_text()) if path.exists() else {}
        tokens = Tokens(**{name: kept.get(name, token) for name, token in made.items()})
        write_private(path, json.dumps(asdict(tokens), indent=2))
        return tokens

    def _start_services(self, stores: Stores) -> None:
        ports = {name: _port(name) for name in NAMES}
        addresses = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        with step("cache, agent-memory and context"):
            for name in NAMES:
                own = variables(
                    name,
                    database_url=stores.services[name],
                    redis_url=stores.redis_url,
                    tokens=self.tokens,
                    addresses=addresses,
                )
                self.services[name] = Service(name, self.logs / f"{name}.log", ports[name], own)
                self.services[name].launch()
            for service in self.services.values():
                service.await_ready()
        values = shell.settings(
            database_url=stores.owner, redis_url=stores.redis_url, tokens=self.tokens, addresses=addresses
        )
        shell.write(self.shell, values)

    def _load_sample(self, state: Path) -> None:
        if self._settings.get("SCRUBJAY_SAMPLE") == "no" or sample.is_loaded(state):
            return
        with step("sample data"):
            sample.load(self.services["context"].url, self.tokens.write, state)


def _port(name: str) -> int:
    wanted = PORTS[name]
    if port_is_free(wanted):
        return wanted
    port = free_port()
    say(f"  port {wanted} is taken: {name.replace('_', '-')} listens on {port} instead")
    return port
