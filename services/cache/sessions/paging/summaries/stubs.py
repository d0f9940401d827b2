"""One line that says what an object is. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from shared.packing import shorten

_LONGEST = 160
_FIRST = 60


def stub(*, source: str | None, label: str, names: Sequence[str] | str, text: str, tokens: int) -> str:
    """Such as `Read src/auth.py: function login, lines 12-40, 310 tokens`, cut to 160 characters."""
    what = names if isinstance(names, str) else ", ".join(names)
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    about = f"{label} {what}" if what else f"{label} “{shorten(first, _FIRST)}”"
    head = f"{source}: " if source else ""
    return shorten(f"{head}{about}", _LONGEST) + f" ({tokens} tokens)"
