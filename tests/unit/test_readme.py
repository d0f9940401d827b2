"""What the README shows is what a person meets."""

from __future__ import annotations

from pathlib import Path

from local.__main__ import question
from local.services import PORTS

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_first_call_is_the_line_that_make_run_prints() -> None:
    assert question(f"http://127.0.0.1:{PORTS['context']}") in README.splitlines()
