"""The commands, and what a failure of one answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from scrubjay._version import __version__
from scrubjay.cli.commands import account, asking, bridging, hooking, importing, keeping, keys, watching
from scrubjay.cli.exits import INTERRUPTED, NOT_REACHED, REFUSED, WRONG
from scrubjay.errors import ApiError, NotReachedError, ScrubjayError, TooManyError, UnavailableError

_CODES = """
\b
Exit codes:
  0    done
  1    done in part: records were refused, or the doctor found something
  2    the command is wrong, or a file cannot be read
  3    the service refused
  4    the service cannot be reached, or is full
  130  interrupted
"""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_CODES,
)
@click.version_option(__version__, prog_name="scrubjay")
def app() -> None:
    """Memory and context for AI agents.

    `scrubjay login` says where your service is. SCRUBJAY_URL, SCRUBJAY_TOKEN, SCRUBJAY_AGENT and SCRUBJAY_MISSION
    count before what it stored.
    """


for _module in (account, asking, bridging, hooking, importing, keeping, keys, watching):
    for _command in _module.COMMANDS:
        app.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    try:
        code = app.main(list(arguments), prog_name="scrubjay", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return WRONG
    except BrokenPipeError:
        # The reader has seen enough. Python would complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ScrubjayError as error:
        return _failed(error)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return WRONG
    return code if isinstance(code, int) else 0


def _failed(error: ScrubjayError) -> int:
    sys.stderr.write(f"{_told(error)}\n")
    away = isinstance(error, NotReachedError | TooManyError | UnavailableError)
    return NOT_REACHED if away else REFUSED


def _told(error: ScrubjayError) -> str:
    if not isinstance(error, ApiError):
        return f"the service cannot be reached: {error}"
    wrong = [f"{each.field}: {each.message}" for each in error.errors] or [
        error.problem.detail or error.problem.title
    ]
    lines = [f"the service refused ({error.problem.status}): {'; '.join(wrong)}"]
    if error.request_id:
        lines.append(f"  request {error.request_id}")
    return "\n".join(lines)
