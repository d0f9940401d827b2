"""PgBouncer, in transaction mode, with fewer connections to the server than its clients hold."""

from __future__ import annotations

import os
import shutil
import socket
from dataclasses import replace
from pathlib import Path

from local.database import SERVICE_ROLES, Database
from local.process import LocalError, Server, free_port
from local.servers import Postgres, server_user

CONNECTIONS = 3
"""To the server, for each service. A service holds up to eight."""
_CONFIG = """[databases]
* = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
"""


class Bouncer(Server):
    def __init__(self, folder: Path, postgres: Postgres) -> None:
        super().__init__("PgBouncer", folder / "pgbouncer.log")
        found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
        if found is None:
            raise LocalError("this proof needs pgbouncer: install its package")
        self._binary = found
        self.port = free_port()
        self._server = postgres.port
        folder.mkdir()
        users, self._config = folder / "users.txt", folder / "pgbouncer.ini"
        users.write_text("".join(f'"{role}" "{postgres.password}"\n' for role in SERVICE_ROLES.values()))
        self._config.write_text(
            _CONFIG.format(server=self._server, port=self.port, users=users, connections=CONNECTIONS)
        )
        # Like PostgreSQL, it refuses to run as root.
        self._user = server_user()
        for path in (users, self._config):
            path.chmod(0o600)
            os.chown(path, self._user.get("user", -1), self._user.get("group", -1))

    def before(self, database: Database) -> Database:
        """The same database through this, without statements that stay prepared: versions before 1.21 lose them."""
        services = {
            name: dsn.replace(f":{self._server}/", f":{self.port}/") + "?statement_cache_size=0"
            for name, dsn in database.services.items()
        }
        return replace(database, services=services)

    def launch(self) -> None:
        self.spawn([self._binary, self._config], cwd="/", **self._user)

    def ready(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self.port)) == 0
