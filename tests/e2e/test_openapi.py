"""Every example of the document is accepted, and every answer is what the document says."""

from tests.cluster import Cluster
from tests.openapi import DOCUMENT, check_content, operations
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
