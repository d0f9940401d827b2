"""What an object of a session's context is worth, and the zones of pressure."""

from __future__ import annotations

from services.cache.sessions.paging.fidelity import Level, PagedObject, Sizes, worth, zone

_SIZES = Sizes(500, 125, 25, 12)


def _object(name: str, **more: object) -> PagedObject:
    known = PagedObject(name, "file_context", Level.FULL, _SIZES, False, False, 2, 0, name)
    return known._replace(**more)  # type: ignore[arg-type]


def test_the_zones_of_pressure() -> None:
    shares = [0.49, 0.5, 0.7, 0.85, 0.95]
    assert [zone(int(share * 1_000), 1_000) for share in shares] == [
        "normal",
        "caution",
        "warning",
        "critical",
        "emergency",
    ]


def test_worth_falls_with_age_and_grows_with_accesses() -> None:
    plain = _object("plain")
    found = worth([plain, _object("older", last_access=1), _object("known", accesses=3)], 9)
    assert found["older"] < found["plain"] < found["known"]
    assert worth([plain], 99)["plain"] < found["plain"]


def test_a_token_of_a_long_file_is_worth_less() -> None:
    long = [_object(f"long {number}", source="long") for number in range(9)]
    found = worth([_object("short"), *long], 9)
    assert found["long 0"] < found["short"]


def test_a_replaced_version_is_worth_nothing_and_a_command_less_than_a_file() -> None:
    found = worth(
        [_object("file"), _object("command", object_type="tool_result"), _object("old", superseded=True)], 9
    )
    assert found["old"] == 0 < found["command"] < found["file"]
