"""A service without one of its limits: the control of `proofs.overload` and of each attack in `proofs.fairness`.

Run as `python -m proofs.without_limits`, with BENCH_SERVICE=context, cache or agent_memory, and WITHOUT=the attack that
nothing stops then.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable

import shared.words
from shared.concurrency import threads
from shared.database import index_turns
from shared.embeddings import dedup
from shared.web.door.overload import Gate
from shared.web.serving import http_protocol
from shared.web.serving.server import serve

_NOTHING = re.compile(r"(?!)")
_LAST_ID = 2**53 - 1


def _streams() -> None:
    os.environ.update(SCRUBJAY_STREAMS_PER_KEY="10000", SCRUBJAY_STREAMS_PER_TENANT="10000")


def _patterns() -> None:
    """The pattern that takes quadratic time for long runs of signs."""
    dedup._TOKEN = re.compile(r"(?:(?<!\w)[-./~]+)?\w+(?:[./:-]+\w+)*")
    vars(threads)["SHORT"] = _LAST_ID


def _questions() -> None:
    """One slow question after the other leaves a core to others, so turns would hide what is missing."""
    _gate()
    shared.words._LONG_RUN = shared.words._SEVERAL_AT = _NOTHING


def _trials() -> None:
    """The service parses code itself."""
    parsing = importlib.import_module("services.cache.sessions.paging.parsing")
    vars(threads)["SHORT"] = vars(parsing)["SHORT"] = _LAST_ID


def _slices() -> None:
    """A tenant's texts are embedded whole, all that are queued in one round."""
    vars(index_turns)["ROUND"] = 10**9
    index_turns.Item.large = property(lambda item: False)  # type: ignore[method-assign,assignment]


def _ids() -> None:
    """Each import moves the sequence behind the largest id that it may hold."""
    queries = importlib.import_module("services.agent_memory.memories.queries_transfer")
    vars(queries)["HIGHEST_DRAWN"] = f"select setval('memory.agent_memory_id_seq', {_LAST_ID - 10**6})"


def _heads() -> None:
    vars(http_protocol)["MAX_HEAD"] = 2**40


def _gate() -> None:
    Gate.full = lambda gate, tenant, now: False  # type: ignore[method-assign,assignment]
    Gate.may_run = lambda gate, work, now: True  # type: ignore[method-assign,assignment]


TAKE_AWAY: dict[str, Callable[[], None]] = {
    "idle streams": _streams,
    "slow patterns": _patterns,
    "crafted questions": _questions,
    "hostile code": _trials,
    "large commits": _slices,
    "imported ids": _ids,
    "large heads": _heads,
    "flood": _gate,
}


def main() -> None:
    name = os.environ["BENCH_SERVICE"]
    TAKE_AWAY[os.environ["WITHOUT"]]()
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
