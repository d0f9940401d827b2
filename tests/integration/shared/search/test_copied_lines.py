"""Steps that show lines of a better step leave a block, and the log says whose lines they show."""

from __future__ import annotations

from tests.support.calls import note, question
from tests.support.cluster import Client

LINES = "\n".join(f"{n}\t    ledger.settle(batch={n})" for n in range(1, 12))


async def test_a_copy_of_a_listing_leaves_the_block_and_points_to_it(client: Client) -> None:
    listing = f"Read: ledger.py\n{LINES}"
    copy = LINES.replace("1\t", "31\t", 1)
    ids = []
    for text in (listing, copy, "The ledger settles batches at night."):
        body = note("copied", text, step="read")
        answer = await client.post("/api/psychic-cache/write?wait=indexed", body)
        ids.append(f"cache:{answer.body['data']['id']}")
    asked = question("copied", text="Read: ledger.py settle batch", fill=True)
    answer = await client.post("/api/context/assemble", asked)
    assert answer.status == 200, answer
    assembly = answer.body
    sources = [source["handle"] for source in assembly["sources"]]
    assert sources[0] == ids[0]
    assert ids[1] not in sources
    log = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    by_handle = {candidate["handle"]: candidate for candidate in log["candidates"]}
    repeat = by_handle[ids[1]]
    assert (repeat["outcome"], repeat["same_as"]) == ("repeat", ids[0])
