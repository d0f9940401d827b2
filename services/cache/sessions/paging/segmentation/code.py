"""The functions and classes of code and the values of JSON, by their grammar. Pure."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Sequence
from functools import cache

from tree_sitter import Language, Node, Parser

from services.cache.sessions.paging.segmentation.listing import Point
from services.cache.sessions.paging.segmentation.units import Unit
from shared.concurrency.cpu import try_first

# A unit of more bytes is cut at its parts: a class at its methods, an object at its values.
_DIVISIBLE = 2_400
# A function stays whole up to this many bytes.
_WHOLE = 8_000
_DEPTH = 8
_PIECE = 65_536
_FUNCTIONS = ("function", "method", "constructor")


class Patience:
    """What parsing a text may cost, in proportion to its length: code takes a tenth of it. Recovering from the errors
    in what is no code can take minutes.

    The parser's steps are the same on every machine. This thread's CPU time bounds what they take together. A single
    step can take minutes too: `cpu_seconds` is what a trial in a fork may spend on all of them.
    """

    def __init__(self, size: int) -> None:
        """`size` in bytes."""
        self.steps = 100 + size // 16
        self.spent = 0
        seconds = 0.01 + size * 2e-6
        self.cpu_seconds = 0.02 + seconds
        self._until = time.thread_time() + seconds

    def ends(self, *_: object) -> bool:
        """The parser calls it after each 100 operations, and stops when it is true."""
        self.spent += 1
        return self.spent >= self.steps or time.thread_time() > self._until


def parse(lines: Sequence[str], language: str, patience: Patience | None = None) -> Node | None:
    """The root of the syntax tree, or None where parsing took too long. Raises Endless for code that was tried first,
    and took too long then."""
    source = "\n".join(lines).encode("utf-8", "replace")
    patience = patience or Patience(len(source))
    parser = Parser(_language(language))

    def tree() -> Node:
        # The parser calls back only if it fetches the text in pieces.
        return parser.parse(
            lambda start, _: source[start : start + _PIECE], progress_callback=patience.ends
        ).root_node

    if language != "json":
        try_first(patience.cpu_seconds, tree)
    try:
        return tree()
    except ValueError:
        return None


def units(root: Node) -> list[Unit]:
    found: list[Unit] = []
    _collect(root, None, found, _DEPTH)
    return found


def definitions(root: Node) -> Iterator[Node]:
    """What has a name and a body, at any depth up to a bound, in the order of the text."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth and node.child_by_field_name("name") and node.child_by_field_name("body"):
            yield node
        if depth < 2 * _DEPTH:
            waiting.extend((child, depth + 1) for child in reversed(node.named_children))


def name_of(node: Node) -> str:
    """The name that a node gives to what it defines, or an empty string."""
    for each in (node, *node.named_children):
        named = each.child_by_field_name("name") or each.child_by_field_name("key")
        if named is not None and named.text is not None and len(named.text) <= 200:
            return named.text.decode("utf-8", "replace").strip("\"'")
    return ""


def _collect(node: Node, parent: int | None, found: list[Unit], depth: int) -> None:
    start: Point | None = None
    for child in node.named_children:
        start = start or _start(child)
        if "comment" in child.type or "decorator" in child.type:
            # It belongs to what follows.
            continue
        found.append(Unit(start, _label(child), name_of(child), parent))
        start = None
        if depth and _is_divisible(child):
            _collect(_parts_of(child), len(found) - 1, found, depth - 1)
    if start is not None:
        found.append(Unit(start, "comment", "", parent))


def _is_divisible(node: Node) -> bool:
    size = node.end_byte - node.start_byte
    return size > (_WHOLE if _label(node) == "function" else _DIVISIBLE)


def _parts_of(node: Node) -> Node:
    """The body: inside of wrappers that hold little else, such as `export` or a decorated definition."""
    inner = _body(node) or node
    for _ in range(_DEPTH):
        children = inner.named_children
        largest = max(children, key=_size, default=None)
        if largest is None or _size(largest) * 10 < _size(inner) * 9:
            return inner
        inner = _body(largest) or largest
    return inner


def _body(node: Node) -> Node | None:
    return node.child_by_field_name("body") or node.child_by_field_name("value")


def _size(node: Node) -> int:
    return node.end_byte - node.start_byte


def _label(node: Node) -> str:
    kind = node.type
    if kind == "decorated_definition" and node.named_children:
        kind = node.named_children[-1].type
    if any(name in kind for name in _FUNCTIONS):
        return "function"
    if "class" in kind or "struct" in kind or "interface" in kind or "impl" in kind or "trait" in kind:
        return "class"
    return "value" if kind in ("pair", "object", "array", "string", "number") else "statement"


def _start(node: Node) -> Point:
    return Point(node.start_point.row, node.start_point.column)


@cache
def _language(name: str) -> Language:
    module = "typescript" if name == "tsx" else name
    grammar = importlib.import_module(f"tree_sitter_{module}")
    variant = {"tsx": "language_tsx", "typescript": "language_typescript", "php": "language_php"}.get(name)
    return Language(getattr(grammar, variant or "language")())
