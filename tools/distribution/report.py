"""Every statement with what it reaches: one tenant, no tenant, or several; and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from tools.distribution import collected, exceptions
from tools.distribution.functions import Function, functions
from tools.distribution.rules import Code, Schema, Violation, check, check_function
from tools.distribution.syntax import called, parse
from tools.distribution.tables import columns, keys_without_tenant

_OWNER = re.compile(r" of [\w.]+(?=:)")


class Class(IntEnum):
    """What a statement reaches. One that calls a function reaches what the function does."""

    LOCAL = 0
    ONE_TENANT = 1
    BACKGROUND = 2

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


# What the statements reach that these functions put together.
_DYNAMIC = {
    "timeline.analyze_grown": Class.BACKGROUND,
    "timeline.erase_rows": Class.ONE_TENANT,
    "timeline.maintain_partitions": Class.BACKGROUND,
}


@dataclass
class Entry:
    """A statement of the code, or a function of the schema with all of its statements."""

    name: str
    group: str
    reaches: Class = Class.LOCAL
    tables: set[str] = field(default_factory=set)
    violations: dict[Violation, None] = field(default_factory=dict)

    def add(self, code: Code, schema: Schema, known: Mapping[str, Entry]) -> None:
        checked = check(code, schema)
        reached = [Class.BACKGROUND if checked.several else Class.ONE_TENANT] if checked.tables else []
        for name, _ in called(parse(code.sql)):
            if name in known:
                reached.append(known[name].reaches)
                self.tables |= known[name].tables
        self.reaches = max([self.reaches, *reached])
        self.tables |= checked.tables
        self.violations |= dict.fromkeys(checked.violations)


def entries() -> list[Entry]:
    of_schema = functions()
    schema = Schema(
        columns(), {function.name for function in of_schema.values() if function.volatility == "volatile"}
    )
    of_functions = _of_functions(of_schema, schema)
    return [*_of_statements(schema, of_functions), *of_functions.values()]


def _of_functions(of_schema: Mapping[str, Function], schema: Schema) -> dict[str, Entry]:
    """Functions that others call come first."""
    known: dict[str, Entry] = {}
    waiting = dict(of_schema)
    while waiting:
        ready = [
            function
            for function in waiting.values()
            if not _calls(function) & (waiting.keys() - {function.name})
        ]
        for function in ready:
            known[function.name] = _of_function(function, schema, known)
            del waiting[function.name]
    return dict(sorted(known.items()))


def _calls(function: Function) -> set[str]:
    return {name for statement in function.statements for name, _ in called(parse(statement))}


def _of_function(function: Function, schema: Schema, known: Mapping[str, Entry]) -> Entry:
    entry = Entry(function.name, "Functions", _DYNAMIC.get(function.name, Class.LOCAL))
    entry.violations = dict.fromkeys(check_function(function))
    for statement in function.statements:
        entry.add(Code(statement, function.variables), schema, known)
    return entry


def _of_statements(schema: Schema, known: Mapping[str, Entry]) -> list[Entry]:
    """One entry for what is made alike for several owners."""
    made: dict[str, Entry] = {}
    for statement in {statement.sql: statement for statement in collected.EVERY}.values():
        name = _named(statement.name)
        entry = made.setdefault(name, Entry(name, name.rpartition(":")[0]))
        entry.add(Code(statement.sql), schema, known)
    return sorted(made.values(), key=lambda entry: entry.group)


def _named(name: str) -> str:
    alone = f"{name.removesuffix('[0]')}[1]" not in _NAMES
    return _OWNER.sub("", name.removesuffix("[0]") if alone else name)


_NAMES = {statement.name for statement in collected.EVERY}


def problems(
    found: list[Entry],
    keys: Mapping[str, str] | None = None,
    exempt: Mapping[str, exceptions.Exempt] = exceptions.STATEMENTS,
    exempt_keys: Mapping[str, str] = exceptions.KEYS,
) -> Iterator[str]:
    """What is wrong and not exempt, and what is exempt for nothing."""
    wrong = dict(keys_without_tenant()) if keys is None else keys
    yield from (f"{name}: key: {wrong[name]}" for name in sorted(wrong.keys() - exempt_keys.keys()))
    yield from (f"{name}: exempt for nothing" for name in sorted(exempt_keys.keys() - wrong.keys()))
    broken = {entry.name: {violation.rule for violation in entry.violations} for entry in found}
    for entry in found:
        allowed = exempt[entry.name].rules if entry.name in exempt else frozenset[str]()
        for rule, what in entry.violations:
            if rule not in allowed:
                yield f"{entry.name}: {rule}: {what}"
    for name, (rules, _) in exempt.items():
        yield from (
            f"{name}: exempt from '{rule}' for nothing" for rule in sorted(rules - broken.get(name, set()))
        )
