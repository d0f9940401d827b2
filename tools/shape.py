"""Measures the shape of the code from its syntax trees: `make shape` prints the figures and fails above a limit.

A function's length is the lines of its body from the first statement to the last, with comments and blank lines but
without decorators, signature and docstring. A nested function counts by itself and in its outer function. Modules
form a circle when they import each other on loading; imports in functions and under TYPE_CHECKING do not count.
"""

from __future__ import annotations

import ast
import io
import json
import math
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("services", "shared", "local", "tools", "deploy", "bench", "proofs", "clients")
# `make openapi` writes them.
GENERATED = ("clients/python/src/scrubjay/calls", "clients/python/src/scrubjay/models")

MEDIAN, P90, FILE, FOLDER = 10, 25, 350, 15

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_DIRECTIVES = ("# noqa", "# type:", "# pragma", "# fmt:")
_COLUMNS = ("functions", "median", "p90", "longest file", "modules a folder", "circles", "local imports")


@dataclass(frozen=True)
class Module:
    path: Path
    """Relative to the project's root."""
    text: str

    @property
    def name(self) -> str:
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


def read(folders: Sequence[str], root: Path = ROOT) -> list[Module]:
    """Every module of the folders, without generated ones."""
    paths = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    modules = (Module(path.relative_to(root), path.read_text()) for path in paths)
    return [module for module in modules if not module.path.as_posix().startswith(GENERATED)]


def function_lengths(tree: ast.AST) -> list[int]:
    return [_body_lines(node) for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]


def _body_lines(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not body:
        return 0
    decorators: list[ast.expr] = getattr(body[0], "decorator_list", [])
    first = min([body[0].lineno, *(decorator.lineno for decorator in decorators)])
    return (body[-1].end_lineno or first) - first + 1


def unexplained_imports(module: Module) -> list[int]:
    """The lines of imports inside functions without a comment on the line or just above."""
    comments = _comment_lines(module.text)
    unexplained: list[int] = []
    explained_until = 0
    for node in _local_imports(ast.parse(module.text)):
        end = node.end_lineno or node.lineno
        # Further imports under the same comment share its reason.
        if explained_until == node.lineno - 1 or comments & set(range(node.lineno - 1, end + 1)):
            explained_until = end
        else:
            unexplained.append(node.lineno)
    return unexplained


def _local_imports(tree: ast.AST) -> list[ast.stmt]:
    found = {
        node.lineno: node
        for function in ast.walk(tree)
        if isinstance(function, _FUNCTIONS)
        for node in ast.walk(function)
        if isinstance(node, _IMPORTS)
    }
    return [found[line] for line in sorted(found)]


def _comment_lines(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    return {token.start[0] for token in comments if not token.string.startswith(_DIRECTIVES)}


def loaded_imports(module: Module, known: set[str]) -> set[str]:
    """The known modules that a module imports when it is loaded."""
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    named = (
        name
        for node in _module_level(ast.parse(module.text).body)
        for name in _named_by(node, package, known)
    )
    return {name for name in named if name in known}


def _module_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, _IMPORTS):
            yield node
        elif not isinstance(node, _FUNCTIONS):
            yield from _module_level(_loaded_parts(node))


def _loaded_parts(node: ast.stmt) -> list[ast.stmt]:
    """The statements inside an `if`, `try`, `with` or class that run on loading."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return node.orelse
    handlers = [statement for handler in getattr(node, "handlers", []) for statement in handler.body]
    return [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, [])] + handlers


def _named_by(node: ast.stmt, package: str, known: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            # `from package import name` means the module of that name where there is one.
            yield name if (name := f"{source}.{alias.name}") in known else source


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules in which each leads to every other."""
    reached = {name: _reached(imports, name) for name in imports}
    groups = {
        frozenset(other for other in targets if name in reached[other])
        for name, targets in reached.items()
        if name in targets
    }
    return sorted(sorted(group) for group in groups)


def _reached(imports: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = imports[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


@dataclass(frozen=True)
class Shape:
    functions: int
    median: float
    p90: int
    longest_file: Module
    long_files: list[Module]
    modules: Counter[Path]
    """The number of modules in each folder, without `__init__`."""
    circles: list[list[str]]
    local_imports: list[str]
    """The unexplained ones, as path:line."""


def measure(modules: Sequence[Module]) -> Shape:
    lengths = [length for module in modules for length in function_lengths(ast.parse(module.text))]
    known = {module.name for module in modules}
    return Shape(
        functions=len(lengths),
        median=statistics.median(lengths) if lengths else 0,
        p90=percentile(lengths, 0.9),
        longest_file=max(modules, key=lambda module: module.lines),
        long_files=[module for module in modules if module.lines > FILE],
        modules=count_by_folder(modules),
        circles=circles({module.name: loaded_imports(module, known) for module in modules}),
        local_imports=[f"{module.path}:{line}" for module in modules for line in unexplained_imports(module)],
    )


def count_by_folder(modules: Sequence[Module]) -> Counter[Path]:
    return Counter(module.path.parent for module in modules if module.path.name != "__init__.py")


def percentile(values: Sequence[int], share: float) -> int:
    """By nearest rank."""
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else 0


def broken(shape: Shape) -> list[str]:
    found = []
    if shape.median > MEDIAN:
        found.append(f"the median function has {shape.median:g} lines, above {MEDIAN}")
    if shape.p90 > P90:
        found.append(f"p90 of functions is {shape.p90} lines, above {P90}")
    found += [f"{module.path} has {module.lines} lines, above {FILE}" for module in shape.long_files]
    found += crowded(shape.modules)
    found += [f"modules import each other: {', '.join(circle)}" for circle in shape.circles]
    found += [f"{place} imports inside a function and no comment says why" for place in shape.local_imports]
    return found


def crowded(modules: Mapping[Path, int]) -> list[str]:
    return [
        f"{folder} holds {count} modules, above {FOLDER}"
        for folder, count in sorted(modules.items())
        if count > FOLDER
    ]


def figures(shape: Shape) -> dict[str, float]:
    return {
        "functions": shape.functions,
        "median": shape.median,
        "p90": shape.p90,
        "longest_file": shape.longest_file.lines,
        "modules_in_a_folder": max(shape.modules.values()),
        "circles": len(shape.circles),
        "local_imports": len(shape.local_imports),
    }


def table(modules: Sequence[Module]) -> Iterator[str]:
    """A row for each top folder, and one for all together."""
    yield _row("", _COLUMNS)
    for folder in FOLDERS:
        yield _row(folder, figures(measure([m for m in modules if m.path.parts[0] == folder])).values())
    yield _row("all", figures(measure(modules)).values())
    yield _row("at most", ("", MEDIAN, P90, FILE, FOLDER, 0, 0))


def _row(title: str, cells: Iterable[object]) -> str:
    return f"{title:<10}" + "".join(
        f"  {cell:>{len(name)}}" for name, cell in zip(_COLUMNS, cells, strict=True)
    )


def main() -> int:
    modules = read(FOLDERS)
    shape = measure(modules)
    # A test may be as long as its story; a folder of tests may not hold more than any other.
    complaints = broken(shape) + crowded(count_by_folder(read(["tests"])))
    print(*table(modules), *complaints, sep="\n")
    print(json.dumps({**figures(shape), "broken": len(complaints)}))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
