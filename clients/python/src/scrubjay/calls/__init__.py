"""Written by `make openapi` from the API's document."""

from __future__ import annotations
