from __future__ import annotations

import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.context.remember.routing import PIECE, is_answer, pieces, route, split
from services.context.remember.schemas import Message, RememberInput
from shared.body import decode
from shared.provenance import SourceKind
from shared.render import Fence, before_items, render_item
from shared.text import is_blank

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
FENCE = Fence(NOW, "k3f")


@pytest.mark.parametrize(
    ("text", "source", "kind"),
    [
        ("We decided to roll back because 4.3.0 drops the header", "agent", "decision"),
        ("We decided to roll back", "agent", "intel"),
        ("I upgraded the database from 15.2 to 16, because of a leak", "agent", "state_change"),
        ("Could you look into the ledger?", "user", "directive"),
        ("Could you look into the ledger?", "agent", "intel"),
        ("Dana went from Oslo to Bergen.", "user", "state_change"),
        ("lag 9 s", "tool", "intel"),
        ("Next time, look at the lag first", "agent", "lesson_learned"),
        ("Never deploy on Fridays", "user", "skill_heuristic"),
        ("Never deploy on Fridays", "tool", "intel"),
        ("It never rains here", "user", "intel"),
        ("1. stop writes\n2. promote\n3. start writes", "agent", "task_blueprint"),
        ("The replica usually lags on Mondays", "agent", "domain_pattern"),
        ("昨日、私たちはロールバックした", "user", "intel"),
    ],
)
def test_a_place_in_a_mission(text: str, source: SourceKind, kind: str) -> None:
    place = route(text, source, None, "scout", True)
    assert place.kind == kind
    learned = kind in ("lesson_learned", "skill_heuristic", "task_blueprint", "domain_pattern")
    assert place.store == ("agent_memory" if learned else "psychic_cache")
    assert place.why


def test_a_place_without_a_mission() -> None:
    assert route("We decided to stay", "agent", None, "scout", False).store == "agent_memory"
    assert route("lag 9 s", "tool", None, "scout", False).store is None
    assert route("Never deploy on Fridays", "user", None, "scout", False).kind == "skill_heuristic"


def test_what_is_temporary_stays_in_its_mission() -> None:
    place = route("Never deploy on Fridays", "user", None, "scout", True, temporary=True)
    assert (place.store, place.kind) == ("psychic_cache", "intel")


@settings(deadline=None, max_examples=100)
@given(
    st.text(max_size=3_000), st.sampled_from(["user", "agent", "tool", "document", "derived"]), st.booleans()
)
def test_every_text_has_the_fields_of_its_kind(text: str, source: SourceKind, in_mission: bool) -> None:
    place = route(text, source, None, "scout", in_mission)
    needed = {
        "decision": {"decision_rationale"},
        "state_change": {"state_from", "state_to"},
        "directive": {"directive_target"},
        "intel": {"intel_source"},
    }
    assert set(place.fields) == needed.get(place.kind or "", set())
    assert all(0 < len(value) <= 4_000 and not is_blank(value) for value in place.fields.values())
    assert place == route(text, source, None, "scout", in_mission)


@pytest.mark.parametrize(
    "text", ["We decided to wait because \u200b\u200b\u200b", "We moved it from \u200b to \u200b."]
)
def test_what_says_no_reason_and_no_change_is_what_was_said(text: str) -> None:
    place = route(text, "agent", "\u200b ", "scout", True)
    assert (place.kind, place.fields) == ("intel", {"intel_source": "agent"})


def _kept(*messages: Message) -> list[tuple[int, str]]:
    request = RememberInput(caller="scout", messages=list(messages))
    return [(piece.item, piece.text) for piece, reason in pieces(request) if reason is None]


def test_what_says_nothing_new_is_passed_over() -> None:
    block = render_item("own:12#1", NOW, ["lesson learned"], "Look at the lag\n\nfirst.", FENCE)
    assert _kept(
        Message(role="system", content="You are helpful."),
        Message(role="user", content="…!?"),
        Message(role="user", content="Hello"),
        Message(role="user", content=" hello "),
        Message(role="user", content="hello", name="Dana"),
        Message(role="user", content=f"As you said:\n{block}"),
        Message(role="tool", content=block),
        Message(role="tool", content='{"data": {"context_block": "x", "entries": []}}'),
        Message(role="user", content="[note: 2026] is mine"),
    ) == [(2, "Hello"), (4, "hello"), (5, "As you said:"), (8, "[note: 2026] is mine")]


def test_a_message_that_is_blank_fails_no_other() -> None:
    """A host passes a conversation on as it is: some messages only call a tool."""
    raw = [{"role": "assistant", "content": " \n"}, {"role": "user", "content": "Hello"}]
    body = json.dumps({"caller": "scout", "messages": raw}).encode()
    request = decode(body, msgspec.json.Decoder(RememberInput))
    assert [(piece.item, reason) for piece, reason in pieces(request)] == [(0, "it has no words"), (1, None)]


def test_a_piece_that_is_blank_is_passed_over() -> None:
    text = "The lag is 9 s.\n\n" + "\u200b" * (2 * PIECE) + "\n\nIt grows."
    request = RememberInput(caller="scout", text=text)
    kept = ["".join(piece.text.split("\u200b")) for piece, reason in pieces(request) if reason is None]
    skipped = {reason for _, reason in pieces(request) if reason is not None}
    assert " ".join("".join(kept).split()) == "The lag is 9 s. It grows."
    assert skipped == {"it has no words"}


def test_what_a_speaker_says_again_after_something_else_is_kept() -> None:
    ports = [Message(role="user", content=f"The port is {port}.") for port in (80, 81, 80, 80)]
    assert [number for number, _ in _kept(*ports)] == [0, 1, 2]


@settings(deadline=None, max_examples=100)
@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_item_of_a_block_is_kept(before: str, texts: list[str]) -> None:
    """The block's own lines are all behind its first header, whatever they hold."""
    items = [render_item(f"cache:{n + 1}", NOW, ["intel"], text, FENCE) for n, text in enumerate(texts)]
    whole = before_items(f"{before}\n" + "\n".join(items))
    assert f"{before}\n".startswith(whole)


@pytest.mark.parametrize("text", ["{", "{}", '{"handle"', "[" * 10_000, '{"a": ' * 2_000 + '"handle"'])
def test_what_only_looks_like_an_answer(text: str) -> None:
    assert not is_answer(text)


def test_numbers_and_speakers_go_along() -> None:
    request = RememberInput(
        caller="scout",
        user_id="u1",
        seq=7,
        occurred_at=NOW,
        messages=[
            Message(role="user", content="a"),
            Message(role="assistant", content="b", seq=40),
            Message(role="tool", content="c", name="kubectl"),
        ],
    )
    said = [(p.speaker, p.seq, p.source_kind, p.occurred_at) for p, _ in pieces(request)]
    assert said == [
        ("u1", 7, "user", NOW),
        ("assistant", 40, "agent", NOW),
        ("kubectl", 9, "tool", NOW),
    ]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text("ab. \n", max_size=4_000), max_size=12).map("".join))
def test_splitting_loses_nothing_but_space(text: str) -> None:
    parts = list(split(text))
    assert all(0 < len(part) <= PIECE for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
