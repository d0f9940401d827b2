"""What a transcript tells: cut in whole lines, without private keys, and without what the host put in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.importing.placing import Placement
from scrubjay.transcripts.calls import ToolCall, programs_of, told
from scrubjay.transcripts.entries import Entry, cut, memory, storable, without_blocks, without_keys

KEY = "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n" + "QUJD" * 20 + "\n-----END " + "OPENSSH PRIVATE KEY-----"


@given(st.lists(st.text("ab =", max_size=30), max_size=60), st.integers(20, 400))
def test_no_line_of_a_cut_text_lacks_its_beginning(lines: list[str], most: int) -> None:
    text = "\n".join(lines)
    short = cut(text, most)
    if len(text.strip()) <= most:
        assert short == text.strip()
        return
    kept = [line for line in short.split("\n") if not line.startswith("[…")]
    whole = {line.strip() for line in lines} | {""}
    assert all(line.strip() in whole for line in kept[1:])
    assert not kept or kept[0].strip() in whole or text.strip().startswith(kept[0])
    assert sum(len(line) + 1 for line in kept) <= most + 2


def test_a_line_without_an_end_keeps_its_beginning_alone() -> None:
    assert cut("a " * 1_000, 100) == f"{'a ' * 33}"[:-1] + "\n[… 1,934 characters left out …]"
    assert cut("b" * 1_000, 100) == "[… 1,000 characters left out …]"


@pytest.mark.parametrize("text", [KEY, f"before\n{KEY}\nafter", f"{KEY}{KEY}", KEY[:90]])
def test_no_line_of_a_private_key_is_left(text: str) -> None:
    assert "QUJD" not in without_keys(text)
    assert "[private key left out]" in without_keys(text)


def test_text_around_a_private_key_stays() -> None:
    assert without_keys(f"before\n{KEY}\nafter") == "before\n[private key left out]\nafter"
    assert without_keys("a PRIVATE KEY is no key") == "a PRIVATE KEY is no key"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<x>1</x>a<x y>2</x>b", "ab"),
        ("a<x>never closed", "a<x>never closed"),
        ("</x>a", "</x>a"),
        ("<x>" * 50_000, "<x>" * 50_000),
    ],
)
def test_what_the_host_put_in_is_taken_out(text: str, left: str) -> None:
    assert without_blocks(text, "x") == left


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("cd src && pytest -q | tail -3", ["cd", "pytest", "tail"]),
        ("TOKEN=x /usr/bin/git log; sudo timeout 5 make", ["git", "make"]),
        ("'quoted' && $(x)", []),
        ("", []),
    ],
)
def test_the_programs_of_a_command(command: str, programs: list[str]) -> None:
    assert programs_of(command) == programs


def test_a_run_that_failed_is_found_by_its_program_and_as_an_error() -> None:
    call = ToolCall("t1", "Bash", {"command": "pytest -q tests/a.py"}, None)
    found = told(call, "1 failed", failed=True)
    assert found is not None
    assert found.text == "$ pytest -q tests/a.py\n1 failed"
    assert found.step == "test"
    assert found.about == ("tool: Bash", "command: pytest", "error")


def test_a_change_names_its_file_and_its_lines() -> None:
    given_ = {"file_path": "/home/ana/a.py", "old_string": "x = 1", "new_string": "x = 2"}
    found = told(ToolCall("t2", "Edit", given_, None), "ok", failed=False)
    assert found is not None
    assert found.paths == ("/home/ana/a.py",)
    assert found.text == "Changed /home/ana/a.py\n- x = 1\n+ x = 2\nok"


@pytest.mark.parametrize(
    "tool", ["mcp__scrubjay__assemble_context", "mcp__plugin_scrubjay_scrubjay__remember"]
)
def test_what_scrubjay_answered_is_not_told_again(tool: str) -> None:
    assert told(ToolCall("t3", tool, {}, None), "known", failed=False) is None


def test_a_memory_can_be_stored_and_is_named_by_where_it_comes_from() -> None:
    paths = ("a\0.py", "b" * 301)
    entry = Entry("u-1", "a\0b\ud800", None, "s-1", "lantern", paths=paths, about=("error",))
    found = memory(entry, "claude-code", Placement("project:{project}"), "claude-code")
    assert (found.content, found.scope, found.origin) == ("ab?", "project:lantern", "claude-code:u-1")
    assert found.topics == ["error", "project: lantern", "session: s-1"]
    assert found.paths == ["a.py"]
    assert storable("plain") == "plain"
