"""Rows that were found are kept, within bounds, until another server answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from shared.search.evidence import Candidate
from shared.search.hot.kept import Kept, KeptRow, KeptRows
from shared.search.hot.matching import Match

SERVER = datetime(2026, 11, 22, tzinfo=UTC)
NEXT_SERVER = datetime(2026, 11, 23, tzinfo=UTC)


def found(item: int, cosine: float | None = 0.5) -> Match:
    return Match(item, 0, cosine, [1], [0.25])


def kept(item: int, version: str | None = "7 7", chunks: int = 1) -> Kept:
    record: Any = {"item_id": item, "chunk": 0, "chunks": chunks, "content": f"text {item}"}
    return Kept(version, record)


def known(rows: KeptRows, *items: int, server: datetime = SERVER, tenant: str = "acme") -> list[int]:
    found_again = rows.known(server, tenant, [found(item) for item in items])
    return [item for item, each in zip(items, found_again, strict=True) if each is not None]


def holding(*items: int, most: int = 10) -> KeptRows:
    rows = KeptRows(most)
    assert known(rows, *items) == []
    for item in items:
        rows.add("acme", kept(item))
    return rows


def test_a_row_is_known_to_its_tenant() -> None:
    rows = holding(1, 2)
    assert known(rows, 2, 3, 1) == [2, 1]
    assert known(rows, 1, 2, tenant="other") == []


def test_the_rows_used_last_stay() -> None:
    rows = holding(1, 2, 3, most=3)
    assert known(rows, 1) == [1]
    rows.add("acme", kept(4))
    assert known(rows, 1, 2, 3, 4) == [1, 3, 4]


def test_another_server_knows_other_versions() -> None:
    rows = holding(1)
    assert known(rows, 1, server=NEXT_SERVER) == []
    assert known(rows, 1, server=SERVER) == []


def test_what_is_gone_is_dropped() -> None:
    rows = holding(1, 2)
    rows.drop("acme", found(1))
    assert known(rows, 1, 2) == [2]


def test_rows_without_a_version_and_parts_of_long_items_are_not_kept() -> None:
    rows = holding()
    rows.add("acme", kept(1, version=None))
    rows.add("acme", kept(2, chunks=2))
    assert known(rows, 1, 2) == []


def test_a_candidate_is_made_once_and_has_the_evidence_of_its_question() -> None:
    row, made = kept(1), 0

    def candidate(columns: dict[str, Any]) -> Candidate:
        nonlocal made
        made += 1
        assert columns["documents"] == 3
        return Candidate(
            id=columns["item_id"], scope="s", kind="k", text=columns["content"], created_at=SERVER
        )

    first, second = (
        KeptRow({"documents": 3}, row, found(1, cosine)).candidate(candidate) for cosine in (0.5, None)
    )
    assert made == 1
    assert (first.id, first.text, first.places, first.tf) == (1, "text 1", [1], [0.25])
    assert (first.cosine, second.cosine) == (0.5, None)
    assert cast(Candidate, row.candidate) is not first


def test_what_is_live_is_that_of_the_question() -> None:
    record: Any = {"item_id": 1, "chunk": 0, "chunks": 1, "most_accessed": 2}
    row = KeptRow({"most_accessed": 9}, Kept("7 7", record), found(1, 0.5))
    assert row["most_accessed"] == row.get("most_accessed") == {**row}["most_accessed"] == 9


def test_a_chunk_of_a_long_item_is_kept_with_a_text_of_its_own_only() -> None:
    rows = holding()
    for item, body in ((1, None), (2, "text 2")):
        record: Any = {"item_id": item, "chunk": 0, "chunks": 2, "body": body}
        rows.add("acme", Kept("7 7", record))
    assert known(rows, 1, 2) == [2]
