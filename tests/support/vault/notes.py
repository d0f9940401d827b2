"""Notes that link each other, and what they state, read in another way than the index reads it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("shared/", "shared/deep/er/", "", "notes/", "agents/scout/", "missions/apollo/", "users/ana/")
_WORDS = "ledger webhook failover replica carpenter invoice deploy lock payment region".split()  # noqa: SIM905


class Stated(NamedTuple):
    scope: str
    path: str
    line: int
    subject: str
    predicate: str
    object: str


def random_notes(chance: random.Random, count: int) -> dict[str, str]:
    """Texts by path, in folders of every kind."""
    names = [f"{chance.choice(FOLDERS)}note {number}" for number in range(count)]
    return {f"{name}.md": random_note(chance, names) for name in names}


def random_note(chance: random.Random, names: list[str]) -> str:
    lines = [*_front_matter(chance, names)] if chance.random() < 0.6 else []
    lines += ["# A note", ""]
    for _ in range(chance.randint(1, 6)):
        lines += [*_paragraph(chance, names), ""]
    return chance.choice(["\n", "\r\n"]).join(lines)


def _front_matter(chance: random.Random, names: list[str]) -> Iterator[str]:
    yield "---"
    if chance.random() < 0.5:
        yield f"title: '{chance.choice(_WORDS)}: a plan'"
    yield f"tags: [{', '.join(chance.sample(_WORDS, 3))}]"
    yield f'owner: "{_link(chance, names)}"'
    yield "reviewers:"
    yield from (f"  - {name}" for name in chance.sample(["Bob", "Carla", '"Dan"'], 2))
    yield chance.choice(["---", "..."])


def _paragraph(chance: random.Random, names: list[str]) -> Iterator[str]:
    link, words = _link(chance, names), " ".join(chance.choices(_WORDS, k=8))
    kind = chance.randrange(6)
    if kind == 0:
        yield from ("```text", f"{words} {link}", "```")
    elif kind == 1:
        yield f"`{link}` {words} `` {_link(chance, names)} and {link}"
    else:
        yield f"{words} {link}, {words}"
        yield f"- !{_link(chance, names)} {words}, [a link](elsewhere.md), [[]] and [{words}]"


def _link(chance: random.Random, names: list[str]) -> str:
    target = chance.choice(names)
    name = target.rpartition("/")[2]
    return chance.choice(
        [
            f"[[{target}]]",
            f"[[{name}.md]]",
            f"[[ {name} ]]",
            f"[[{name}|another name]]",
            f"[[{target}#A heading|that]]",
        ]
    )


def write_notes(folder: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def stated_by(texts: Mapping[str, str]) -> set[Stated]:
    """Each fact with the first line of the note that states it."""
    return {stated for path, text in texts.items() for stated in _stated_by(path, text)}


def _stated_by(path: str, text: str) -> Iterator[Stated]:
    subject, seen = Path(path).stem, set[tuple[str, str]]()
    lines = [line.rstrip("\r") for line in text.split("\n")]
    for number, predicate, value in (*_fields(lines), *_links(lines)):
        if (predicate, value) not in seen and (predicate, value) != ("links_to", subject):
            seen.add((predicate, value))
            yield Stated(_scope(path), path, number, subject, predicate, value)


def _scope(path: str) -> str:
    first, *rest = path.split("/")
    if first == "shared":
        return "shared"
    return f"{first[:-1]}:{rest[0]}" if first in ("agents", "missions", "users") else "vault"


def _fields(lines: list[str]) -> Iterable[tuple[int, str, str]]:
    if lines[0] != "---":
        return
    key = ""
    for number, line in enumerate(lines[1:], 2):
        if line in ("---", "..."):
            return
        if line.startswith("  - "):
            yield number, key, line[4:].strip('"')
            continue
        key, _, value = line.partition(":")
        value = value.strip()
        if value.startswith("[") and not value.startswith("[["):
            yield from ((number, key, item) for item in value[1:-1].split(", "))
        elif "[[" in value:
            yield from ((number, key, name) for name in _names(value))
        elif value:
            yield number, key, value.strip("'\"")


def _links(lines: list[str]) -> Iterable[tuple[int, str, str]]:
    inside = lines[0] == "---"
    fenced = False
    for number, line in enumerate(lines, 1):
        if inside:
            inside = number == 1 or line not in ("---", "...")
        elif line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield from ((number, "links_to", name) for name in _names(_without_code(line)))


def _without_code(line: str) -> str:
    """Every second part between backticks is code, if another backtick ends it."""
    parts = line.split("`")
    return "".join(part for place, part in enumerate(parts) if place % 2 == 0 or place == len(parts) - 1)


def _names(text: str) -> Iterator[str]:
    for opened in text.split("[[")[1:]:
        inner, closed, _ = opened.partition("]]")
        target = inner.partition("|")[0].partition("#")[0].strip()
        if closed and target:
            yield Path(target).name.removesuffix(".md")
