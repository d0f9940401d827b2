"""Serves; or makes an API key: `python -m services.context key --tenant acme --name ci --access write`;
or runs the eval cycle: `python -m services.context eval`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from services.context.app import create
from services.context.evaluation import Evaluation
from services.context.keys import DEFAULT_TENANT, Keys
from services.context.settings import Settings
from shared import log
from shared.deadline import Deadline
from shared.http import serve
from shared.postgres import Database
from shared.settings import Env
from shared.text import to_json

_EVAL_SECONDS = 3_600.0


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


async def _evaluate(tenant: str | None) -> str:
    """The cycle's result as JSON."""
    env = Env()
    url = env.text("DATABASE_URL")
    default = env.integer("SCRUBJAY_DEFAULT_BUDGET", 4_000, 100, 16_000)
    most = env.integer("SCRUBJAY_MAX_BUDGET", 16_000, 100, 16_000)
    env.done()
    database = Database(url, connections=1)
    await database.open()
    try:
        return to_json(await Evaluation(database, default, most).run(tenant, Deadline(_EVAL_SECONDS)))
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
    evaluate = commands.add_parser("eval", help="learn weights and budgets from new feedback, and print them")
    evaluate.add_argument("--tenant", help="one tenant; all without it")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    if arguments.command == "key":
        sys.stdout.write(asyncio.run(_make_key(arguments)) + "\n")
        return
    if arguments.command == "eval":
        sys.stdout.write(asyncio.run(_evaluate(arguments.tenant)) + "\n")
        return
    settings = Settings.from_env()
    log.configure("context", settings.log_level)
    serve(create(settings), settings.host, settings.port)


if __name__ == "__main__":
    main()
