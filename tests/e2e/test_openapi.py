"""Every example of the document is accepted, and every answer is what the document says; the page that shows it."""

import re

import msgspec

from tests.support.cluster import Cluster
from tests.support.openapi import DOCUMENT, check_content, operations
from tools.openapi.playing import Player


async def test_the_examples_play(cluster: Cluster) -> None:
    known = {one.id: one for one in operations()}
    player = Player(cluster.url(), cluster.tokens.admin, DOCUMENT)
    played = set()
    for one in player.play():
        operation = known[one.example.operation]
        assert one.status < 300, (one.example, one.answer)
        content = operation.answers(one.status)
        if content:
            check_content(content, one.media, one.answer)
        else:
            assert one.answer == ""
        played.add(operation.id)
    assert played == known.keys()


async def test_the_page_needs_no_other_host_and_no_key(cluster: Cluster) -> None:
    async with cluster.client(None) as anybody:
        page = await anybody.get("/docs")
        policy = page.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert all(part.split(" ", 1)[1] in ("'none'", "'self'", "'self' data:") for part in policy)
        files = re.findall(r'(?:src|href)="([^"]+)"', page.body)
        assert len(files) == 4
        assert all(path.startswith("/docs/") for path in files)
        async with anybody.session.get("/docs/swagger-ui-bundle.js") as script:
            assert script.headers["content-encoding"] == "gzip"
            assert len(await script.read()) > 1_000_000
        for path in files:
            async with anybody.session.get(path) as file:
                assert file.status == 200, path
                assert file.headers["x-content-type-options"] == "nosniff"
        assert (await anybody.get("/docs/../document.py")).status == 404
        assert (await anybody.get("/docs/index.html")).status == 404


async def test_the_document_is_served(cluster: Cluster) -> None:
    async with cluster.client(None) as anybody:
        assert (await anybody.get("/schema/openapi.json")).body == DOCUMENT
        assert msgspec.yaml.decode((await anybody.get("/schema/openapi.yaml")).body) == DOCUMENT
