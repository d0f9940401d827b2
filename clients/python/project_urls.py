"""The project's urls in the package's metadata. They lie below the repository, which SCRUBJAY_REPOSITORY names."""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PLACES = {
    "Homepage": "",
    "Documentation": "/blob/main/clients/python/README.md",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Issues": "/issues",
    "Source": "/tree/main/clients/python",
}


class ProjectUrls(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        repository = os.environ.get("SCRUBJAY_REPOSITORY", "").rstrip("/")
        metadata["urls"] = {name: repository + place for name, place in _PLACES.items()} if repository else {}
