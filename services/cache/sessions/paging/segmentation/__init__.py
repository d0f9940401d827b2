"""Cuts what an agent reads into units: a function or class, a section, a hunk, a value of JSON. Pure."""

from __future__ import annotations

from services.cache.sessions.paging.segmentation.kinds import Kind, kind_of
from services.cache.sessions.paging.segmentation.segments import Segment, segment

__all__ = ["Kind", "Segment", "kind_of", "segment"]
