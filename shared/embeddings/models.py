"""The local models, each loaded once in a process."""

from __future__ import annotations

from functools import cache

from shared.concurrency.worker import Worker
from shared.embeddings.base import Kind
from shared.embeddings.local import LocalModel, Timed, timed
from shared.embeddings.settings import MULTILINGUAL_MODEL

# Takes as much memory as the model and its libraries, while it is needed.
_WORKER = Worker(spare=True)


@cache
def local_model(name: str) -> LocalModel:
    """Blocks for most of a second. Raises SettingsError unless it is installed, with the pinned files."""
    if name == MULTILINGUAL_MODEL:
        # Not before it is selected: its library takes memory.
        from shared.embeddings import multilingual

        return multilingual.load_model()
    # Not before it is selected: its libraries take memory and most of a second.
    from shared.embeddings import english

    return english.load_model()


def in_spare_time(name: str, text: str, kind: Kind) -> Timed:
    """Embeds a text in a process that leaves the processors to all others, or else in this thread. Blocks."""
    return _WORKER.run(_timed, name, text, kind)


def _timed(name: str, text: str, kind: Kind) -> Timed:
    return timed(local_model(name), text, kind)
