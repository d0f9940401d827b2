"""Serves the context service. `key make --tenant acme --name ci --access write` manages API keys instead, and `eval`
runs the eval cycle."""

from __future__ import annotations

import argparse
import asyncio
import sys

from services.context.app import create
from services.context.keys import command
from services.context.learning.evaluation import Evaluation
from services.context.settings import Settings, key_ttl_days
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.settings import Env
from shared.text import to_json
from shared.web.serving.start import start

_EVAL_SECONDS = 3_600.0


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
    command.add_arguments(commands.add_parser("key", help="make, list, revoke and rotate API keys"))
    evaluate = commands.add_parser("eval", help="learn weights and budgets from new feedback, and print them")
    evaluate.add_argument("--tenant", help="only this tenant")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    if arguments.command == "key":
        env = Env()
        url, ttl_days = env.text("DATABASE_URL"), key_ttl_days(env)
        env.done()
        sys.stdout.write(asyncio.run(command.run(url, arguments, ttl_days)) + "\n")
        return
    if arguments.command == "eval":
        sys.stdout.write(asyncio.run(_evaluate(arguments.tenant)) + "\n")
        return
    start("context", Settings.from_env, create)


if __name__ == "__main__":
    main()
