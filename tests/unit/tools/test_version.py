"""One version, wherever it is written down or served."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

import scrubjay
from shared.telemetry import metrics
from shared.version import VERSION
from tests.support.openapi import DOCUMENT

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("project", ["pyproject.toml", "clients/python/pyproject.toml"])
def test_projects_have_it(project: str) -> None:
    assert tomllib.loads((ROOT / project).read_text())["project"]["version"] == VERSION


def test_the_client_has_it() -> None:
    assert scrubjay.__version__ == VERSION


def test_the_chart_deploys_it() -> None:
    chart = yaml.safe_load((ROOT / "deploy/helm/scrubjay/Chart.yaml").read_text())
    assert chart["appVersion"] == VERSION


def test_the_api_document_has_it() -> None:
    assert DOCUMENT["info"]["version"] == VERSION


def test_metrics_have_it() -> None:
    assert metrics.BUILD is not None
    assert REGISTRY.get_sample_value("scrubjay_build_info", {"version": VERSION}) == 1


def test_the_changelog_names_it() -> None:
    assert f"## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text()
