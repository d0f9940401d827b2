"""Serves, or makes an API key: `python -m services.context key --tenant acme --name ci --access write`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from services.context.app import create
from services.context.keys import DEFAULT_TENANT, Keys
from services.context.settings import Settings
from shared import log
from shared.http import serve
from shared.postgres import Database
from shared.settings import Env


async def _make_key(arguments: argparse.Namespace) -> str:
    env = Env()
    url = env.text("DATABASE_URL")
    env.done()
    database = Database(url, connections=1)
    await database.open()
    try:
        return await Keys(database, {}).add(
            arguments.tenant,
            arguments.name,
            arguments.access,
            agent=arguments.agent,
            missions=arguments.mission,
            users=arguments.user,
        )
    finally:
        await database.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m services.context", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    key = commands.add_parser("key", help="make an API key and print it, this once")
    key.add_argument("--tenant", default=DEFAULT_TENANT)
    key.add_argument("--name", required=True)
    key.add_argument("--access", choices=["read", "write", "admin"], default="write")
    key.add_argument("--agent", help="the key acts as this agent only")
    key.add_argument("--mission", action="append", help="a mission it may touch; repeat for more")
    key.add_argument("--user", action="append", help="a user it may touch; repeat for more")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    if arguments.command == "key":
        sys.stdout.write(asyncio.run(_make_key(arguments)) + "\n")
        return
    settings = Settings.from_env()
    log.configure("context", settings.log_level)
    serve(create(settings), settings.host, settings.port)


if __name__ == "__main__":
    main()
