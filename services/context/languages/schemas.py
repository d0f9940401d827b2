from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.text import Language


class TenantLanguageInput(Body, kw_only=True):
    language: Annotated[
        Language | None,
        Meta(
            description="The language of the tenant's texts. Without one, nothing is taken for granted again."
        ),
    ] = None


class TenantLanguage(msgspec.Struct):
    """The language of the tenant's texts and questions, where neither they nor their writer tells it."""

    language: Language | None
    """As ISO 639-1 names it."""
