import json
from typing import Any

from bench.demo.__main__ import cut
from bench.demo.agent import PIECE, Agent
from bench.demo.digest import allowance, digest, listing, pieces
from bench.demo.questions import MOST, ask
from bench.demo.transcript import Event, definitions, event, normal, tokens_of, whole
from shared.tokens import estimate_tokens

CODE = '"""Pages of a store."""\n\nLIMIT = 30\n\n' + "\n\n".join(
    f'def fetch_page_{n}(store: Store, number: int, depth_{n}: int = {n}) -> Page:\n    """Page {n}."""\n'
    + "    number += 1\n" * 12
    for n in range(8)
)


def session(*lines: tuple[str, str, dict[str, Any] | str]) -> list[Event]:
    events = []
    for seq, (kind, tool, text) in enumerate(lines):
        key = text.get("file_path", "") if isinstance(text, dict) else ""
        written = json.dumps(text) if isinstance(text, dict) else text
        events.append(event({"seq": seq, "kind": kind, "tool": tool, "key": key, "text": written}))
    return events


def read(path: str, text: str) -> list[tuple[str, str, dict[str, Any] | str]]:
    return [("tool_call", "Read", {"file_path": path}), ("tool_result", "Read", text)]


def results(events: list[Event]) -> list[Event]:
    """With the keys that results have: those of their calls."""
    return [
        one._replace(key=events[place - 1].key) if one.kind == "tool_result" else one
        for place, one in enumerate(events)
    ]


PAST = results(
    session(
        ("user", "", "Make the pager faster. Never change the public signatures of the pager module."),
        *read("/home/me/project/src/pager.py", CODE),
        ("assistant", "", "The pager reads every page twice. I will cache pages in memory by their number."),
        ("tool_call", "Bash", {"command": "pytest"}),
        ("tool_result", "Bash", "Exit code 1\nKeyError: 'page 7 is not in the store'"),
    )
)
FUTURE = session(
    (
        "assistant",
        "",
        "The KeyError comes from fetch_page_3(), so pager.py must cache pages by number in memory.",
    ),
    (
        "tool_call",
        "Edit",
        {"file_path": "/other/x.py", "old_string": "a", "new_string": "signatures of the public"},
    ),
    ("tool_result", "Edit", "def fetch_page_5() is fine"),
)


def test_questions_come_from_what_the_agent_mentions_later() -> None:
    expected = {(one.kind, one.text): one.expected for one in ask(PAST, FUTURE)}
    assert expected["definition", "How is fetch_page_3 defined in pager.py?"] == (
        "def fetch_page_3(store: Store, number: int, depth_3: int = 3) -> Page:"
    )
    assert expected["path", "Where is pager.py?"] == "/home/me/project/src/pager.py"
    assert expected["error", "What did the KeyError say?"] == "KeyError: 'page 7 is not in the store'"
    assert "I will cache pages in memory by their number." in expected.values()
    assert not any("fetch_page_5" in text for _, text in expected)


def test_what_is_expected_was_said_and_is_not_in_the_question() -> None:
    questions = ask(PAST, FUTURE)
    assert 0 < len(questions) <= MOST
    assert questions == ask(PAST, FUTURE)
    for one in questions:
        assert one.expected in normal(whole(PAST))
        assert one.expected not in one.text
        assert one.turn in {later.seq for later in FUTURE}
    assert len({one.expected for one in questions}) == len(questions)


def test_nothing_is_asked_of_what_a_later_turn_defines_itself() -> None:
    rewritten = session(("tool_call", "Write", {"file_path": "/x/pager.py", "content": CODE}))
    assert not [one for one in ask(PAST, rewritten) if one.kind == "definition"]


def test_the_cut_keeps_results_with_their_calls_and_enough_before_it() -> None:
    events = [*PAST, *FUTURE]
    at = cut(events, 1000)
    assert [*at.past, *at.future] == events
    assert at.future[0].kind != "tool_result"
    assert at.budget * 4 <= tokens_of(at.past)
    assert at.questions


def agent(events: list[Event]) -> list[dict[str, Any]]:
    one = Agent("coder", "m", "s")
    return [write.body for event in events for write in one.observe(event)]


def test_an_agent_writes_down_what_each_event_is() -> None:
    bodies = agent(PAST)
    kinds = [body["context_type"] for body in bodies]
    assert list(dict.fromkeys(kinds)) == ["directive", "intel", "decision"]
    assert [body["seq"] for body in bodies] == list(range(1, len(bodies) + 1))
    head, *listed = (body["content"] for body in bodies[1 : kinds.index("decision")])
    assert "/home/me/project/src/pager.py" in head
    assert "Pages of a store." in head
    assert "def fetch_page_3(store: Store, number: int, depth_3: int = 3) -> Page:" in "\n".join(listed)
    assert all(one.startswith("In pager.py:\n") for one in listed)
    decision, failure = bodies[-2:]
    assert decision["content"] == "I will cache pages in memory by their number."
    assert decision["decision_rationale"] == "The pager reads every page twice."
    assert failure["content"].startswith("pytest failed:")
    assert "KeyError: 'page 7 is not in the store'" in failure["content"]


def test_a_later_event_changes_nothing_that_was_written() -> None:
    everything = agent([*PAST, *FUTURE])
    for length in range(len(PAST)):
        before = agent(PAST[:length])
        assert everything[: len(before)] == before


def test_edits_and_new_files_are_told_apart() -> None:
    new = {"file_path": "/p/a.py", "content": '"""Adds."""\n'}
    change = {"file_path": "/p/a.py", "old_string": "x = 1\ny = 2", "new_string": "x = 3\ny = 2"}
    events = session(
        ("tool_call", "Write", new),
        ("tool_result", "Write", "File created"),
        ("tool_call", "Edit", change),
        ("tool_result", "Edit", "updated"),
    )
    wrote, _, changed = agent(results(events))
    assert (wrote["context_type"], wrote["output_url"]) == ("output", "/p/a.py")
    assert (changed["context_type"], changed["state_from"], changed["state_to"]) == (
        "state_change",
        "x = 1",
        "x = 3",
    )


def test_a_checkpoint_comes_every_twelve_events() -> None:
    bodies = agent(session(*[("assistant", "", f"I will do step {n}.") for n in range(24)]))
    places = [n for n, body in enumerate(bodies) if body["context_type"] == "thread_checkpoint"]
    assert places == [12, 25]
    assert bodies[12]["turn_count"] == 11


def test_a_failure_that_was_overcome_is_a_lesson() -> None:
    one = Agent("coder", "m", "s")
    events = session(
        ("tool_call", "Bash", {"command": "pytest"}),
        ("tool_result", "Bash", "Exit code 1\nModuleNotFoundError: No module named 'pager'"),
        ("tool_call", "Bash", {"command": "uv run pytest"}),
        ("tool_result", "Bash", "48 passed"),
    )
    for each in events:
        one.observe(each)
    lesson, plan = (write.body for write in one.lessons())
    assert lesson["memory_type"] == "lesson_learned"
    assert "No module named 'pager'" in lesson["content"]
    assert "`uv run pytest`" in lesson["content"]
    assert plan["task_context"]["outcome"] == "success"


def test_a_digest_stays_within_its_allowance_and_keeps_the_errors() -> None:
    output = "\n".join(f"line {n} of a long output" for n in range(400)) + "\nfatal: the disk is full\n"
    kept = digest(output)
    assert sum(estimate_tokens(line) for line in kept) <= allowance(output)
    assert "fatal: the disk is full" in kept
    assert kept[0] == "line 0 of a long output"


def test_a_short_listing_leaves_out_tests_first() -> None:
    code = (
        "def test_it(page: Page, number: int):\n    pass\n\ndef fetch(page: Page, number: int):\n    pass\n"
    )
    assert listing(definitions(code), 12) == ["def fetch(page: Page, number: int):"]


def test_pieces_keep_every_part_whole() -> None:
    parts = ["a" * 300, "b" * 300, "c" * 900, "d"]
    assert list(pieces(parts, PIECE)) == [f"{parts[0]} {parts[1]}", parts[2], parts[3]]


def test_no_piece_outgrows_a_budget() -> None:
    assert max(map(len, pieces(["x" * 50_000], PIECE))) == 4 * PIECE
