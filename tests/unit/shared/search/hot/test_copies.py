"""Copies that changed many times equal copies that were made at once."""

from __future__ import annotations

import random
import struct
from datetime import UTC, datetime
from typing import Any

from shared.search.counts import NONE_COMMON, Common
from shared.search.hot.copies import Copy, copy_of
from shared.search.hot.matching import Asked, Matches, match
from shared.search.hot.segments import NEVER, Builder, key_of, microseconds
from shared.search.hot.words import rank
from tests.support.hot import vector

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [f"word{number}" for number in range(30)]


def tsvector(words: list[str]) -> bytes:
    counted = sorted(set(words))
    held = [
        word.encode() + b"\0" + struct.pack(">H", words.count(word)) + b"\xc0\x01" * words.count(word)
        for word in counted
    ]
    return struct.pack(">I", len(counted)) + b"".join(held)


def row(item: int, chance: random.Random, *, vectors: bool = True) -> dict[str, Any]:
    words = chance.choices(WORDS, k=chance.randint(1, 40))
    return {
        "item_id": item,
        "chunk": 0,
        "scope": chance.choice(["agent:a", "agent:b"]),
        "words": len(words),
        "expires_at": datetime.max.replace(tzinfo=UTC),
        "hidden": chance.random() < 0.1,
        "user_id": chance.choice([None, "alice", "bob"]),
        "tsv": tsvector(words),
        "embedding": vector(item) if vectors and chance.random() < 0.8 else None,
    }


def made(rows: list[dict[str, Any]]) -> Copy:
    builder = Builder()
    for each in rows:
        builder.add(each)
    return copy_of([builder.build()], (1, 1, []), NOW)


def asked(chance: random.Random, common: Common = NONE_COMMON) -> Asked:
    return Asked(
        lexemes=[*chance.sample(WORDS, 5), "unheard"],
        vector=vector(chance.randint(1, 99)).to_numpy().astype("f4"),
        depth=10,
        common=common,
        users=chance.choice([None, ["alice"]]),
        now=microseconds(NOW),
    )


def rounded(matches: Matches) -> Any:
    return matches.df, [
        (
            each.item,
            each.cosine and round(each.cosine, 4),
            each.places,
            [round(tf, 5) for tf in each.tfs],
        )
        for each in sorted(matches.found)
    ]


def test_many_changes_leave_the_copy_that_one_reading_would_make() -> None:
    chance = random.Random(17)
    rows = {item: row(item, chance) for item in range(1, 60)}
    copy = made([*rows.values()])
    for step in range(60):
        changed = [row(item, chance) for item in chance.sample(range(1, 90), 4)]
        rows |= {each["item_id"]: each for each in changed}
        copy = copy.after(changed, (step, step, []))
        for item in chance.sample([*rows], 2):
            del rows[item]
        copy = copy.among([key_of(item, 0) for item in rows])
        anew = made([*rows.values()])
        assert (copy.rows, copy.pending) == (anew.rows, anew.pending)
        assert len(copy.segments) <= 8
        question = asked(chance)
        assert rounded(match(copy, question)) == rounded(match(anew, question))


def test_a_copy_without_chunks_finds_nothing() -> None:
    chance = random.Random(1)
    assert match(made([]), asked(chance)) == Matches([0] * 6, [])
    full = made([row(item, chance) for item in range(20)])
    assert match(full.among([]), asked(chance)) == Matches([0] * 6, [])


def test_common_words_select_nothing_but_the_two_rarest() -> None:
    texts = [["often", "rare"], ["often"], ["usual"], ["frequent"]]
    rows = [
        {
            **row(item, random.Random(item), vectors=False),
            "hidden": False,
            "user_id": None,
            "tsv": tsvector(words),
        }
        for item, words in enumerate(texts, 1)
    ]
    known = Common(["often", "usual", "frequent"], [90, 50, 70])
    question = Asked(["rare", "often", "usual", "frequent"], None, 10, known, None, microseconds(NOW))
    found = match(made(rows), question)
    assert found.df == [1, 90, 50, 70]
    assert {each.item: each.places for each in found.found} == {1: [1, 2], 3: [3], 4: [4]}


def test_infinity_never_comes() -> None:
    assert microseconds(datetime.max.replace(tzinfo=UTC)) == NEVER


def test_a_word_without_positions_ranks_as_the_lowest_weight() -> None:
    assert rank(b"") == rank(b"\0")
    assert rank(b"\3") > rank(b"\1") > rank(b"\0")


def test_what_a_key_may_not_see_takes_no_place_among_the_candidates() -> None:
    """The statement checks the rows of each arm until enough are visible."""
    about = {"hidden": False, "words": 1, "tsv": tsvector(["rare"])}
    rows = [
        {**row(item, random.Random(item)), **about, "embedding": vector(item), "user_id": user}
        for item, user in enumerate([None, "alice", *["bob"] * 40])
    ]
    asking = Asked(
        ["rare"], vector(30).to_numpy().astype("f4"), 10, NONE_COMMON, ["alice"], microseconds(NOW)
    )
    found = match(made(rows), asking)
    assert {each.item for each in found.found} == {0, 1}
    assert found.df == [42]
