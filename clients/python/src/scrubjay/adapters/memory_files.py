"""What a model does to its files of memory, and what it is told: the words are those that models know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scrubjay.adapters.files import Files
from scrubjay.adapters.sending import Steps

_ROOT = "/memories"
_WIDTH = 6
# A file of the vault holds something: this stands for an empty one.
_EMPTY = "\n"
_LEVELS = 2


class Refused(Exception):
    """Said to the model."""


def view(files: Files, path: str, view_range: Sequence[int] | None) -> Steps[str]:
    below = _below(path)
    if below:
        (text,) = yield from files.read([below])
        if text is not None:
            return _numbered(path, _shown(text), view_range)
    listed = yield from files.listed(f"{below}/" if below else "")
    sizes = {_tail(files.below(file.path), below): file.characters for file in listed}
    if below and not sizes:
        raise Refused(f"The path {path} does not exist. Please provide a valid path.")
    lines = [f"{_size(sum(sizes.values()))}\t{path}"]
    lines += [f"{_size(size)}\t{path}/{name}" for name, size in _tree(sizes)]
    head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join([head, *lines])


def create(files: Files, path: str, text: str) -> Steps[str]:
    below = _file(path)
    if (yield from _exists(files, below)):
        raise Refused(f"File {path} already exists")
    yield from files.write({below: text or _EMPTY})
    return f"File created successfully at: {path}"


def replace(files: Files, path: str, old: str, new: str) -> Steps[str]:
    text = yield from _text(files, path)
    begins = text.find(old)
    count = text.count(old)
    if count == 0:
        raise Refused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    if count > 1:
        lines = ", ".join(map(str, _lines_with(text, old)))
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}."
            " Please ensure it is unique"
        )
    changed = text.replace(old, new)
    yield from files.write({_file(path): changed or _EMPTY})
    line = text.count("\n", 0, begins)
    around = changed.split("\n")[max(0, line - 2) : line + 3]
    snippet = _lines(around, max(0, line - 2) + 1)
    return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"


def insert(files: Files, path: str, after: int, text: str) -> Steps[str]:
    lines = (yield from _text(files, path)).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= after <= len(lines):
        raise Refused(
            f"Invalid `insert_line` parameter: {after}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(after, text.rstrip("\n"))
    changed = "\n".join(lines)
    yield from files.write({_file(path): changed if changed.endswith("\n") else f"{changed}\n"})
    return f"The file {path} has been edited."


def delete(files: Files, path: str) -> Steps[str]:
    below = _below(path)
    if not below:
        raise Refused(f"Cannot delete the {_ROOT} directory itself")
    (was_file,) = yield from files.remove([below])
    if not was_file:
        inside = yield from files.listed(f"{below}/")
        if not inside:
            raise Refused(f"The path {path} does not exist")
        yield from files.remove([files.below(file.path) for file in inside])
    return f"Successfully deleted {path}"


def rename(files: Files, path: str, new_path: str) -> Steps[str]:
    """A folder's files move one by one: who reads meanwhile may find some in both places."""
    below, target = _below(path), _below(new_path)
    if not below:
        raise Refused(f"Cannot rename the {_ROOT} directory itself")
    if not target or (yield from _exists(files, target)):
        raise Refused(f"The destination {new_path} already exists")
    listed = yield from files.listed(below)
    names = [files.below(file.path) for file in listed]
    moved = [name for name in names if name == below or name.startswith(f"{below}/")]
    if not moved:
        raise Refused(f"The path {path} does not exist")
    texts = yield from files.read(moved)
    yield from files.write(
        {f"{target}{name[len(below) :]}": text for name, text in zip(moved, texts, strict=True) if text}
    )
    yield from files.remove(moved)
    return f"Successfully renamed {path} to {new_path}"


def clear(files: Files) -> Steps[str]:
    listed = yield from files.listed()
    yield from files.remove([files.below(file.path) for file in listed])
    return "All memory cleared"


def _below(path: str) -> str:
    """The path below the root; empty for the root. Raises Refused."""
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise Refused(f"Path must start with {_ROOT}, got: {path}")
    steps = [step for step in path.removeprefix(_ROOT).split("/") if step not in ("", ".")]
    if ".." in steps:
        raise Refused(f"Path {path} would escape {_ROOT} directory")
    return "/".join(steps)


def _file(path: str) -> str:
    """Raises Refused for the root."""
    below = _below(path)
    if not below:
        raise Refused(f"The path {path} is not a file.")
    return below


def _exists(files: Files, below: str) -> Steps[bool]:
    listed = yield from files.listed(below)
    names = (files.below(file.path) for file in listed)
    return any(name == below or name.startswith(f"{below}/") for name in names)


def _text(files: Files, path: str) -> Steps[str]:
    below = _file(path)
    (text,) = yield from files.read([below])
    if text is not None:
        return _shown(text)
    if (yield from files.listed(f"{below}/")):
        raise Refused(f"The path {path} is not a file.")
    raise Refused(f"The path {path} does not exist. Please provide a valid path.")


def _shown(text: str) -> str:
    return "" if text == _EMPTY else text


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines, first = text.split("\n"), 1
    if view_range is not None and len(view_range) == 2:
        first = max(1, view_range[0])
        lines = lines[first - 1 : None if view_range[1] == -1 else view_range[1]]
    return f"Here's the content of {path} with line numbers:\n{_lines(lines, first)}"


def _lines(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _lines_with(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place != -1:
        yield text.count("\n", 0, place) + 1
        place = text.find(part, place + 1)


def _tail(name: str, below: str) -> str:
    return name.removeprefix(f"{below}/") if below else name


def _tree(sizes: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Files and folders, two levels deep, as they lie in each other."""
    shown: dict[tuple[str, ...], int] = {}
    for name, size in sizes.items():
        steps = tuple(name.split("/"))
        for depth in range(1, min(len(steps), _LEVELS) + 1):
            if any(step.startswith(".") for step in steps[:depth]):
                break
            # A folder ends with an empty step, whose name is a slash.
            key = steps[:depth] if depth == len(steps) else (*steps[:depth], "")
            shown[key] = shown.get(key, 0) + size
    return (("/".join(key), shown[key]) for key in sorted(shown))


def _size(size: int) -> str:
    power = max(0, size.bit_length() - 1) // 10
    value = size / 1024**power
    return f"{int(value)}{'BKMG'[power]}" if value == int(value) else f"{value:.1f}{'BKMG'[power]}"
