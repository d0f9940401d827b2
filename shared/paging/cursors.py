"""Cursors: where a page of a list ended, as text that only this list reads."""

from __future__ import annotations

import base64
import binascii
from typing import Self

import msgspec

from shared.errors import Invalid

MAX_CURSOR = 2_000


class Cursor(msgspec.Struct, forbid_unknown_fields=True, tag_field="list"):
    """The sort key of a page's last item. Each list has a subclass with its own tag.

    A cursor is a position and never a permission: the query bounds what a principal may read, with or without one.
    """

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """Raises Invalid for what this list cannot have answered."""
        if text is None:
            return None
        try:
            padded = text + "=" * (-len(text) % 4)
            return msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=cls)
        except (binascii.Error, msgspec.DecodeError, UnicodeError, RecursionError, ValueError) as error:
            raise Invalid.field("cursor", "is not the `next` of a page of this list") from error

    def text(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).rstrip(b"=").decode()
