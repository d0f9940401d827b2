"""How functions, files and imports are counted."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from tools.shape import (
    FILE,
    Module,
    broken,
    circles,
    function_lengths,
    loaded_imports,
    measure,
    percentile,
    unexplained_imports,
)


def module(name: str, text: str) -> Module:
    return Module(Path(name), dedent(text))


def test_a_function_is_as_long_as_its_body() -> None:
    text = '''
    @decorated(
        by=1
    )
    def f(
        a: int,
    ) -> int:
        """A docstring

        of three lines."""
        # A comment counts only between statements.
        b = a

        return b
    '''
    assert function_lengths(ast.parse(dedent(text))) == [3]


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("def f(): ...", [1]),
        ('def f():\n    "Only words."', [0]),
        ("async def f():\n    return (\n        1\n    )", [3]),
        # The nested function's decorator is part of the outer body.
        ("def f():\n    @cache\n    def g():\n        return 1\n    return g", [4, 1]),
    ],
)
def test_lengths(text: str, lengths: list[int]) -> None:
    assert function_lengths(ast.parse(text)) == lengths


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import a", []),
        ("def f():\n    import a", [2]),
        ("def f():\n    import a  # Slow to load.", []),
        ("def f():\n    # Slow to load.\n    import a\n    import b", []),
        ("def f():\n    # Slow to load.\n    x = 1\n    import a", [4]),
        ("def f():\n    import a  # noqa: PLC0415", [2]),
        ("def f():\n    def g():\n        from a import (\n            b,\n        )", [3]),
        ("def f():\n    '# no comment'\n    import a", [3]),
    ],
)
def test_imports_inside_functions_need_a_reason(text: str, lines: list[int]) -> None:
    assert unexplained_imports(module("m.py", text)) == lines


def test_only_what_runs_on_loading_is_imported_then() -> None:
    text = """
    import a.b
    from a import c, value
    from . import sibling
    from ..above import name
    import os
    if TYPE_CHECKING:
        import types_only
    else:
        import otherwise
    try:
        import tried
    except ImportError:
        import instead
    class C:
        import in_class
    def f():
        import later
    """
    known = {"a", "a.b", "a.c", "p.q.sibling", "p.above", "types_only", "otherwise"}
    known |= {"tried", "instead", "in_class", "later"}
    assert loaded_imports(module("p/q/m.py", text), known) == {
        *("a", "a.b", "a.c", "p.q.sibling", "p.above", "otherwise", "tried", "instead", "in_class")
    }


def test_a_package_is_the_origin_of_its_own_relative_imports() -> None:
    assert loaded_imports(module("p/__init__.py", "from .m import x"), {"p", "p.m"}) == {"p.m"}


def test_circles_are_groups_that_lead_to_each_other() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}, "e": {"a"}}
    assert circles(imports) == [["b", "c"], ["d"]]


@pytest.mark.parametrize(
    ("values", "p90"), [([], 0), ([7], 7), (list(range(1, 11)), 9), (list(range(11)), 9)]
)
def test_percentiles_are_by_nearest_rank(values: list[int], p90: int) -> None:
    assert percentile(values, 0.9) == p90


def test_what_is_within_the_bars_is_not_complained_about() -> None:
    assert broken(measure([module("services/a.py", "import services.b"), module("services/b.py", "")])) == []


def test_every_bar_is_named_where_it_is_broken() -> None:
    long = "def f():\n" + "    x = 1\n" * (FILE + 1) + "    import a\n"
    modules = [module(f"services/room/m{number}.py", "") for number in range(15)]
    modules.append(module("services/room/a.py", long + "import services.room.b"))
    modules.append(module("services/room/b.py", "import services.room.a"))
    found = "\n".join(broken(measure(modules)))
    for complaint in (
        "median",
        "p90",
        "a.py has",
        "room holds 17",
        "import each other",
        "a.py:353 imports inside",
    ):
        assert complaint in found
