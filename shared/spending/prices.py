"""The price of a call, from a dated file of prices for each model. Pure but for reading the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, Self

from shared.settings import Env, SettingsError
from shared.spending.calls import Tokens

BUNDLED = Path(__file__).with_name("prices.toml")
SETTING = "SCRUBJAY_PRICES"

_MILLION = 1_000_000
_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_DEAREST = Decimal(1_000_000)


class Price(NamedTuple):
    """US dollars for a million tokens of each kind. None: the provider states none."""

    input: Decimal
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None

    def of(self, tokens: Tokens) -> Decimal | None:
        """Exact. None where tokens of a kind have no price."""
        sum_ = Decimal(0)
        for price, count in zip(self, tokens, strict=True):
            if count and price is None:
                return None
            sum_ += (price or 0) * count
        return sum_ / _MILLION


class Prices(NamedTuple):
    as_of: str
    models: Mapping[str, Price]

    @classmethod
    def from_env(cls, env: Env) -> Self:
        """The bundled prices, and over them those of the file that the setting names."""
        known = read(BUNDLED)
        path = env.optional(SETTING)
        if path is None:
            return cls(*known)
        try:
            own = read(Path(path))
        except SettingsError as error:
            for problem in error.problems:
                env.refuse(f"{SETTING}: {problem}")
            return cls(*known)
        return cls(own.as_of, {**known.models, **own.models})

    def find(self, model: str) -> Price | None:
        """By its whole name, without its provider, or without its date."""
        bare = model.partition(":")[2] or model
        for name in (model, bare, _DATE.sub("", bare)):
            if (price := self.models.get(name)) is not None:
                return price
        return None

    def cost(self, model: str, tokens: Tokens) -> Decimal | None:
        """In US dollars, exactly. None for a model without a price."""
        price = self.find(model)
        return None if price is None else price.of(tokens)


def bundled() -> Prices:
    return read(BUNDLED)


def read(path: Path) -> Prices:
    """Raises SettingsError, which says what is wrong with the file."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise SettingsError([f"{path} cannot be read: {error}"]) from error
    models = given.get("models")
    if not isinstance(models, dict) or not isinstance(given.get("as_of"), str):
        raise SettingsError([f"{path} needs `as_of`, a date as text, and a table `models`"])
    return Prices(given["as_of"], {name: _price(path, name, fields) for name, fields in models.items()})


def _price(path: Path, name: str, fields: Any) -> Price:
    others = ", ".join(Price._fields[1:])
    wanted = f"{path}: {name!r} needs `input`, and takes {others}, in dollars for a million tokens"
    if not isinstance(fields, dict) or "input" not in fields or fields.keys() - set(Price._fields):
        raise SettingsError([wanted])
    if not all(_is_price(value) for value in fields.values()):
        raise SettingsError([wanted])
    return Price(**{field: Decimal(value) for field, value in fields.items()})


def _is_price(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return False
    return Decimal(value).is_finite() and 0 <= value <= _DEAREST


def text_of(usd: Decimal | None) -> str | None:
    """Without an exponent, and without zeros at the end."""
    if usd is None:
        return None
    plain = f"{usd:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
