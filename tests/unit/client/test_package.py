"""What the Python client's package says of itself to those who install it."""

import tomllib

from local.database import ROOT

PROJECT = ROOT / "clients/python"
METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]


def test_its_license_is_the_project_s() -> None:
    assert METADATA["license"] == "Apache-2.0"
    assert (PROJECT / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_it_is_described() -> None:
    assert METADATA["readme"] == "README.md"
    assert METADATA["dynamic"] == ["urls"]
    assert {"Typing :: Typed", "Framework :: AsyncIO"} <= set(METADATA["classifiers"])
    assert (PROJECT / "src/scrubjay/py.typed").exists()


def test_its_readme_leads_to_no_file_beside_it() -> None:
    assert "](../" not in (PROJECT / "README.md").read_text()
