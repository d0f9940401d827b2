"""A text of an answer, which reaches the host without cleanup tags. Pure."""

from __future__ import annotations

from typing import Generic, TypeVar

from services.context.gateway.cleanup import Action, Cutter, Piece

T = TypeVar("T")


class Text(Generic[T]):
    """It begins to be shown with its first visible character: a text of tags alone is left out as a whole.

    A provider refuses a conversation that holds an empty text, and the host would send it back.
    """

    def __init__(self) -> None:
        self._cutter: Cutter[T] = Cutter()
        self._blank: list[Piece[T]] | None = []
        self._parts: list[str] = []

    @property
    def actions(self) -> list[Action]:
        return self._cutter.actions

    @property
    def kept(self) -> str:
        return "".join(self._parts)

    @property
    def is_left_out(self) -> bool:
        """Known at its end."""
        return self._blank is not None and bool(self.actions)

    def feed(self, carrier: T, text: str = "") -> list[Piece[T]]:
        return self._shown(self._cutter.feed(carrier, text))

    def end(self) -> list[Piece[T]]:
        shown = self._shown(self._cutter.end())
        if self._blank is None or self.is_left_out:
            return shown
        blank, self._blank = self._blank, None
        return blank

    def _shown(self, pieces: list[Piece[T]]) -> list[Piece[T]]:
        self._parts += [piece.kept for piece in pieces]
        if self._blank is None:
            return pieces
        self._blank += pieces
        if not any(piece.kept.strip() for piece in pieces):
            return []
        shown, self._blank = self._blank, None
        return shown
