"""`scrubjay-agent SETTINGS`: runs an agent."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from scrubjay.client import AsyncClient
from scrubjay_agent.journal.journal import SupersededError
from scrubjay_agent.running import Running
from scrubjay_agent.settings import Settings, SettingsError, read

_SUPERSEDED = 3


def main() -> None:
    parser = argparse.ArgumentParser(prog="scrubjay-agent", description=__doc__)
    parser.add_argument("settings", type=Path, help="a TOML file")
    parser.add_argument("--cli", action="store_true", help="also talk in this terminal")
    parser.add_argument("--json", action="store_true", help="with --cli: lines are JSON objects")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    # It logs each request with its address, which holds Telegram's token.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        settings = read(given.settings)
        asyncio.run(_run(settings, given.settings.resolve().parent, cli=given.cli, structured=given.json))
    except (SettingsError, ValueError) as error:
        parser.exit(2, f"scrubjay-agent: {error}\n")
    except SupersededError:
        parser.exit(_SUPERSEDED, "scrubjay-agent: an agent of this name has started elsewhere\n")
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass


async def _run(settings: Settings, folder: Path, *, cli: bool, structured: bool) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with AsyncClient() as jay:
        await Running(settings, folder, jay, cli=cli, structured=structured).run()


if __name__ == "__main__":
    main()
