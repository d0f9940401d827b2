import json

import pytest

from bench.demo.transcript import (
    Event,
    definitions,
    error_name,
    errors,
    event,
    failed,
    normal,
    paths,
    sentences,
    tail,
)


def line(kind: str, text: str, **more: object) -> Event:
    return event({"seq": 0, "kind": kind, "tool": None, "key": None, "text": text, **more})


def test_listings_lose_their_line_numbers() -> None:
    assert line("tool_result", "     1→import os\n     2→\n    10→x = 1").text == "import os\n\nx = 1"
    listing = "[File: /a/b.py (2 lines total)]\n1:import os\n2:x = {1:2}\n"
    assert "\nimport os\nx = {1:2}\n" in line("tool_result", listing).text
    assert line("tool_result", "12:30 lunch").text == "12:30 lunch"


def test_what_no_api_takes_is_taken_out() -> None:
    assert line("tool_result", "a\0b\ud800c").text == "ab?c"


def test_a_call_is_read_out_of_its_json() -> None:
    call = line("tool_call", json.dumps({"file_path": "/a/b.py", "content": 'x = "1"\ny = 2'}), tool="Write")
    assert call.path == "/a/b.py"
    assert 'x = "1"\ny = 2' in call.text
    assert line("tool_call", "ls -F", tool="ls", key="ls -F").path is None
    assert line("tool_call", "open b.py", tool="open", key="/a/b.py").path == "/a/b.py"


def test_the_tail_is_the_last_tokens() -> None:
    events = [line("assistant", "a" * 100), line("assistant", "b" * 6)]
    assert tail(events, 2) == "a\nbbbbbb"
    assert tail(events, 0) == ""


PYTHON = '''
LIMIT: int = 30

def short(a, b=(1, 2)) -> dict[str, int]:
    """Adds.

    More."""

class Store(Base):
    """Keeps pages."""

    size: int = 0
    name: str

    async def put(
        self,
        page: Page,
    ) -> None:
        pass

# a class of its own, and a def of terms
'''


def test_python_definitions_have_whole_signatures_and_notes() -> None:
    assert [(one.kind, one.signature, one.note) for one in definitions(PYTHON)] == [
        ("constant", "LIMIT: int = 30", ""),
        ("function", "def short(a, b=(1, 2)) -> dict[str, int]:", "Adds."),
        ("class", "class Store(Base):", "Keeps pages.; size: int, name: str"),
        ("function", "async def put( self, page: Page, ) -> None:", ""),
    ]


@pytest.mark.parametrize(
    ("code", "name", "signature"),
    [
        ("ulong _hash(char *param_1)\n\n{\n", "_hash", "ulong _hash(char *param_1)"),
        ("export async function load(path) {\n", "load", "export async function load(path)"),
        ("const add = (a, b) => {\n", "add", "const add = (a, b) =>"),
        ("func (s *Store) Put(p Page) error {\n", "Put", "func (s *Store) Put(p Page) error"),
        ("pub fn put(&mut self, page: Page) -> bool {\n", "put", "pub fn put(&mut self, page: Page) -> bool"),
        ("sub upload {\n", "upload", "sub upload"),
    ],
)
def test_definitions_of_other_languages(code: str, name: str, signature: str) -> None:
    assert [(one.name, one.signature) for one in definitions(code)] == [(name, signature)]


@pytest.mark.parametrize("code", ["  if (a == b) {\n", "while (x) {\n", "return call(x) {\n", "def cut(a, b"])
def test_statements_and_cut_code_define_nothing(code: str) -> None:
    assert definitions(code) == ()


def test_errors_are_named_where_they_have_a_name() -> None:
    output = "Exit code 1\nok\nKeyError: 'x' is missing\nKeyError: 'x' is missing\nrm: cannot remove 'a'\n"
    assert errors(output) == ["Exit code 1", "KeyError: 'x' is missing", "rm: cannot remove 'a'"]
    assert [error_name(one) for one in errors(output)] == [None, "KeyError", None]
    assert error_name("raise KeyError('x')") is None


def test_failure_is_not_a_mention_of_errors() -> None:
    assert failed("Exit code 2\n...")
    assert failed("Traceback (most recent call last):")
    assert failed("ValueError: no")
    assert not failed("48 passed, 0 errors")


def test_paths_and_urls_end_where_prose_goes_on() -> None:
    text = "See /src/app/main.py. And (http://h:8000/cgi-bin/file.pl?x) or lib/a.c: there; not and/or."
    assert list(paths(text))[:3] == ["/src/app/main.py", "http://h:8000/cgi-bin/file.pl?x", "lib/a.c"]


def test_sentences_end_at_stops_and_items() -> None:
    text = "Read main.py v1.2 first. Then:\n\n- fix it\n- test it (1) with pytest"
    assert sentences(text) == ("Read main.py v1.2 first.", "Then:", "fix it", "test it", "(1) with pytest")


def test_whitespace_does_not_count() -> None:
    assert normal(" a\n\t b ") == "a b"
