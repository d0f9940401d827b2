"""LangGraph's own tests of stores, as its source distribution holds them, over ours in place of its own."""

from __future__ import annotations

import sys
import tarfile
import tempfile
import traceback
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from langgraph.store import memory
from langgraph.store.base import GetOp, Op, PutOp, Result

from proofs.adapters.suites.telling import Counts, Drops, client, tell
from scrubjay.adapters.langgraph_store import ScrubjayStore

SOURCES = Path(sys.prefix) / "sources"
TESTS = "tests/test_store.py"
OF_THE_CALLERS_MODEL = ("test_vector_store_initialization", "test_embed_with_path")
"""They ask how an embedding model of the caller's own is held, and for single fields: ours is the service's."""


NOTHING = GetOp(("nothing",), "at all")


class Dropping(ScrubjayStore):
    """An empty one, each time. The control drops every third write."""

    drops = Drops()

    def __init__(self, *, index: Any = None) -> None:
        super().__init__(client(), agent="a", folder=uuid.uuid4().hex)

    def _some(self, ops: Iterable[Op]) -> list[Op]:
        return [NOTHING if isinstance(op, PutOp) and self.drops.next() else op for op in ops]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return super().batch(self._some(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await super().abatch(self._some(ops))


def run(folder: str) -> Counts:
    (source,) = SOURCES.glob("langgraph_checkpoint-*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (root,) = Path(folder).iterdir()
    memory.InMemoryStore = Dropping  # type: ignore[misc, assignment]
    counts = Counts()
    left_out = [f"--deselect={TESTS}::{name}" for name in OF_THE_CALLERS_MODEL]
    arguments = [
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        f"--rootdir={root}",
        f"-c{root}/pyproject.toml",
    ]
    pytest.main([*arguments, *left_out, str(root / TESTS)], plugins=[counts])
    return counts


VALUES: dict[str, dict[str, Any]] = {
    "long": {"text": "w\u00f6rd \r\n\x00\u2028 " * 30_000, "numbers": [1, 0.1, 1e300, None]},
    "one line": {"text": "x" * 300_000},
    "half \ud800 /%#": {"half": "\ud800"},
    "a/b": {"": {"~": []}},
    "..": {},
    "#L10": {"index": False, "value": 1},
}


def every_item_comes_back() -> None:
    store = Dropping()
    for key, value in VALUES.items():
        store.put(("a b", "\u00e4/%"), key, value)
    found = {(item.namespace, item.key): item.value for item in store.search((), limit=50)}
    assert found == {(("a b", "\u00e4/%"), key): value for key, value in VALUES.items()}
    for key, value in VALUES.items():
        item = store.get(("a b", "\u00e4/%"), key)
        assert item is not None
        assert item.value == value, key
    store.put(("a b", "\u00e4/%"), "long", {"text": "short"})
    item = store.get(("a b", "\u00e4/%"), "long")
    assert item is not None
    assert item.value == {"text": "short"}
    assert item.created_at < item.updated_at


def secrets_are_masked_and_the_rest_can_be_read() -> None:
    store = Dropping()
    for place, secret in enumerate(
        ("ghp_" + "A1b2C3d4" * 4, "postgres://u:hunter2secret@db/x", "AKIA" + "B" * 16)
    ):
        store.put(("n",), str(place), {"said": f'the "{secret}"', "password": secret, "n": place})
        item = store.get(("n",), str(place))
        assert item is not None
        assert item.value["n"] == place
        assert secret not in str(item.value), item


OWN = (every_item_comes_back, secrets_are_masked_and_the_rest_can_be_read)


def main() -> None:
    broken = []
    for case in OWN:
        try:
            case()
        except Exception:
            broken.append(f"{case.__name__}: {traceback.format_exc(limit=3)[-1500:]}")
    tell("store: hostile items", "langgraph", len(OWN) - len(broken), broken)
    with tempfile.TemporaryDirectory() as folder:
        counts = run(folder)
    tell("store: its own tests", "langgraph-checkpoint", counts.passed, counts.failed)


if __name__ == "__main__":
    main()
