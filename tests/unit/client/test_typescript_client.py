"""The TypeScript client is what the document says, and its package what the project says."""

import json
import re

import pytest

from local.database import ROOT
from shared.version import VERSION
from tests.support.openapi import DOCUMENT, operations
from tests.support.openapi import Operation as Described
from tools.client.calls import Operation
from tools.client.typescript import FOLDER, group_name, method_name, sources

PROJECT = ROOT / "clients/typescript"
PACKAGE = json.loads((PROJECT / "package.json").read_text())
WRITTEN = sources(DOCUMENT)


def test_it_is_what_the_document_says() -> None:
    for name, text in WRITTEN.items():
        assert (FOLDER / name).read_text() == text, f"{name}: run `make openapi`"
    there = {path.name for path in (FOLDER / "calls").iterdir()}
    assert {f"calls/{name}" for name in there} <= WRITTEN.keys()


@pytest.mark.parametrize("one", list(operations()), ids=lambda one: one.id)
def test_it_has_a_described_method_for_every_operation(one: Described) -> None:
    call = Operation(one.method, one.path, one.told, DOCUMENT)
    home = "calls/index.ts" if group_name(call) is None else f"calls/{call.group}.ts"
    assert re.search(rf"\*/\n  {method_name(call)}\(args: ", WRITTEN[home])


def test_its_package_is_the_project_s() -> None:
    assert PACKAGE["version"] == VERSION
    assert f'"{VERSION}"' in (FOLDER / "version.ts").read_text()
    assert PACKAGE["license"] == "Apache-2.0"
    assert (PROJECT / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "dependencies" not in PACKAGE


def test_its_readme_leads_to_no_file_beside_it() -> None:
    assert "](../" not in (PROJECT / "README.md").read_text()
