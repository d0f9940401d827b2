"""The steps of agents at work: what kind a step is, and what a question about a task or a quoted text wants. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from shared.search.evidence import Candidate
from shared.search.turns import Weighed
from shared.text import Step

# The share that each kind keeps of its evidence where the question tells a task: what shows or changes the files
# counts more than what was run or planned. Found on the steps of eight sessions.
PRIORS: Mapping[str, float] = {"plan": 0.6, "run": 0.8, "test": 0.9}
# A shorter question asks for one thing, which any kind of step may hold.
TASK_WORDS = 25
# What holds the question itself, word for word, is what was asked for.
VERBATIM = 0.5
_VERBATIM_LENGTHS = range(4, 1_000)

# A call holds the ends of lines as JSON writes them.
_LINE_END = re.compile(r"\n|\\n")
_MARK = re.compile(r"\A[ \t]*(?:\d{1,6}[ \t]*[→:|\t]|[+-](?![+-]))[ \t]?")

# The first lines say what was done: a tool's name begins one, or a command is in one.
_HEADING = 600
_TOOL = re.compile(r"^[A-Za-z_$]\w*", re.M)
_BY_STEP: Mapping[Step, str] = {
    "plan": "TodoWrite todo_write update_plan plan think",
    "edit": "edit write create insert str_replace apply_patch Edit Write MultiEdit NotebookEdit",
    "read": "read read_file open view goto scroll_up scroll_down grep glob search_file search_dir Read Grep Glob",
}
_TOOLS: Mapping[str, Step] = {tool: step for step, tools in _BY_STEP.items() for tool in tools.split()}
_SHOWN: Sequence[tuple[Step, tuple[str, ...]]] = (
    ("diff", ("\ndiff --git ", "\n@@ -", "git diff", "git show")),
    ("edit", ('"old_string"', '"old_str"', '"file_text"', "sed -i", "*** Begin Patch")),
    ("read", ("\n[File: ",)),
)
_COMMANDS: Sequence[tuple[Step, tuple[str, ...]]] = (
    (
        "test",
        (
            "pytest",
            "unittest",
            "tox ",
            "jest",
            "go test",
            "cargo test",
            "npm test",
            "npm run test",
            "make test",
        ),
    ),
    ("read", ("cat ", "sed -n ", "head -", "less ", "grep ", "rg ")),
)
_RUNS = frozenset(
    "Bash Exit bash curl execute_bash find_file ls python python3 rm run shell submit".split()  # noqa: SIM905
)


def step_of(text: str) -> Step | None:
    """By what its first lines call or show; None for text that is no step."""
    return _step_of("\n" + text[:_HEADING])


@lru_cache(maxsize=4_096)
def _step_of(heading: str) -> Step | None:
    called = _TOOL.findall(heading)
    if step := next((_TOOLS[tool] for tool in called if tool in _TOOLS), None):
        return step
    if step := _by_sign(heading, _SHOWN):
        return step
    if "$ " not in heading and _RUNS.isdisjoint(called):
        return None
    return _by_sign(heading, _COMMANDS) or "run"


def _by_sign(heading: str, signs: Iterable[tuple[Step, Iterable[str]]]) -> Step | None:
    return next((step for step, those in signs if any(sign in heading for sign in those)), None)


def tells_a_task(query: str) -> bool:
    return len(query.split()) >= TASK_WORDS


def prior(step: str | None, task: bool) -> float:
    return PRIORS.get(step, 1.0) if task and step is not None else 1.0


def lines_of(candidate: Candidate) -> list[str]:
    """The lines of a step's text, without indentation, the numbers of a listing and the signs of a diff."""
    if candidate.step is None:
        return []
    lines = (_MARK.sub("", line, count=1).strip() for line in _LINE_END.split(candidate.text))
    return [line for line in lines if line]


def favour_quoted(query: str, found: Iterable[Weighed]) -> None:
    """Raises what holds or is about the whole question, word for word: an identifier, a path, a line of an error."""
    words = query.split()
    wanted = " ".join(words)
    if len(wanted) not in _VERBATIM_LENGTHS:
        return
    for each in found:
        text = each.candidate.text
        if wanted in each.candidate.names or (words[0] in text and _holds(" ".join(text.split()), wanted)):
            each.value += VERBATIM


def _holds(text: str, wanted: str) -> bool:
    """As words of their own: `log` is not held by `catalog`."""
    place = text.find(wanted)
    while place >= 0:
        stop = place + len(wanted)
        before, after = text[place - 1 : place], text[stop : stop + 1]
        if not (_joins(before, wanted[0]) or _joins(wanted[-1], after)):
            return True
        place = text.find(wanted, place + 1)
    return False


def _joins(left: str, right: str) -> bool:
    return (left.isalnum() or left == "_") and (right.isalnum() or right == "_")
