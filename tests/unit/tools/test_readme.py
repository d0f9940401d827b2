"""What following the README refuses: blocks that fail, and answers that are not the ones shown."""

import os
import sys
from pathlib import Path

import pytest

from local.database import ROOT
from tools.readme import ReadmeError, blocks, differences, follow

# The blocks' `python` is the one of the tests.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
ANSWER = """```sh
echo '{"block": "[own:2 2026-11-22 11:49 lesson ana k3f] Ask first.\\nMore.", "items": [{"id": 1}, {"id": 2}]}'
```
"""


def _follow(markdown: str) -> int:
    return follow(blocks(markdown), {**os.environ, "PATH": PATH}, Path.cwd())


def test_the_readme_has_blocks_of_each_kind() -> None:
    found = blocks((ROOT / "README.md").read_text())
    assert found[0].text.startswith("make run")
    assert {"sh", "python"} <= {block.language for block in found if not block.mark}
    assert {"answer", "answer.context_block"} <= {block.mark for block in found}


def test_blocks_run_in_order_with_what_the_reader_was_told(tmp_path: Path) -> None:
    text = '```sh\necho "$TOKEN" > token\n```\n```python\nassert open("token").read() == "t\\n"\n```\n'
    environment = {**os.environ, "PATH": PATH, "TOKEN": "t"}
    assert follow(blocks(text), environment, tmp_path) == 2


@pytest.mark.parametrize("block", ["```sh\nfalse\n```", "```sh\nfalse | true\n```", "```python\n1 / 0\n```"])
def test_a_block_that_fails_is_named_by_its_line(block: str) -> None:
    with pytest.raises(ReadmeError, match="line 2: exit code 1"):
        _follow(f"\n{block}\n")


def test_marked_blocks_are_not_run() -> None:
    assert _follow("<!-- verify: skip, it fails -->\n```sh\nfalse\n```\n```json\n{}\n```\n") == 0


def test_the_answer_that_is_shown_has_the_fields_of_the_answer() -> None:
    shown = '<!-- verify: answer -->\n```json\n{"block": "…", "items": [{"id": 7}]}\n```\n'
    assert _follow(ANSWER + shown) == 1
    for old, new, says in [
        ('"id": 7', '"id": "7"', "is number, not str"),
        ('"block"', '"text"', "text is shown and not answered"),
    ]:
        with pytest.raises(ReadmeError, match=says):
            _follow(ANSWER + shown.replace(old, new))


def test_the_text_that_is_shown_begins_the_answer_s_but_for_ids_and_times() -> None:
    shown = "<!-- verify: answer.block -->\n```\n[own:12 2027-01-01 00:00 lesson ana b7d] Ask first.\n```\n"
    assert _follow(ANSWER + shown) == 1
    with pytest.raises(ReadmeError, match="begins otherwise"):
        _follow(ANSWER + shown.replace("Ask first", "Ask last"))


def test_null_is_of_any_type() -> None:
    assert [*differences({"a": None, "b": 1}, {"a": [1], "b": 1.5})] == []
    assert [*differences([1, 2], [1])] == ["answer has 1 items, not 2"]
