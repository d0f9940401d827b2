"""`make proof-retries`, P2: a write that is sent again under its key happens once, whichever reply was lost.

The story of the API's document is played by tenants: two without a fault, whose tables say what the story leaves; one
for each hop and round, of which a proxy cuts the replies to each keyed write. An operation that takes a key, and of
which no reply was cut on a hop that its writes pass, counts as a violation. The control has no keys.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack

import asyncpg

from proofs.ground import Ground, Proof, run
from proofs.retries.cutting import WriteCutter
from proofs.retries.playing import CUTS, KEYED, Ledger, Play
from proofs.retries.state import Tables, differences, stable
from tests.support.cluster import Client, Cluster

SEED = 2
_ROUNDS, _SHORT_ROUNDS = 5, 1
_LEAST_CUTS, _LEAST_REFUSED = 1_000, 200
_REFERENCES = 3
_OWNERS = ("cache", "agent_memory")
_SHOWN = 40


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    async with AsyncExitStack() as closing:
        stage = await _Stage.build(ground, closing, seed)
        references = await asyncio.gather(
            *(stage.play(f"clean-{number}", [], 0) for number in range(_REFERENCES))
        )
        hops = {"client": [stage.door], "owner": stage.owners}
        # In short, the replies to clients only.
        bare = [*hops.items()][: 1 if short else None]
        controls = [await stage.play(f"bare-{hop}", cutters, 1, keyed=False) for hop, cutters in bare]
        cut = {hop: [] for hop in hops}  # type: dict[str, list[Ledger]]
        for number in range(_SHORT_ROUNDS if short else _ROUNDS):
            for hop, cutters in hops.items():
                cut[hop].append(await stage.play(f"cut-{hop}-{number}", cutters, CUTS))
    return _judged(references, controls, cut, short)


class _Stage:
    """A cluster whose context service reaches the owners through proxies, and is reached through one."""

    def __init__(
        self, cluster: Cluster, door: WriteCutter, owners: list[WriteCutter], tables: Tables, seed: int
    ) -> None:
        self._cluster, self.door, self.owners, self._tables, self._seed = cluster, door, owners, tables, seed

    @classmethod
    async def build(cls, ground: Ground, closing: AsyncExitStack, seed: int) -> _Stage:
        cluster = Cluster(ground.database, ground.valkey.url, ground.folder, settings=ground.vectors)
        owners = [await closing.enter_async_context(WriteCutter(cluster.url(name))) for name in _OWNERS]
        context = cluster.replicas["context"][0]
        context.variables = {
            **context.variables,
            **{f"SCRUBJAY_{name.upper()}_URL": one.url for name, one in zip(_OWNERS, owners, strict=True)},
        }
        await closing.enter_async_context(cluster)
        door = await closing.enter_async_context(WriteCutter(cluster.url()))
        sql = await asyncpg.connect(ground.postgres.dsn(ground.database.name))
        closing.push_async_callback(sql.close)
        await sql.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=json.loads)
        return cls(cluster, door, owners, await Tables.read(sql), seed)

    async def play(self, name: str, cutters: list[WriteCutter], cuts: int, *, keyed: bool = True) -> Ledger:
        tenant = f"{name}-{self._seed}"
        async with self._cluster.client("admin") as operator:
            made = await operator.post(
                "/api/context/keys", {"name": "story", "tenant": tenant, "access": "admin"}
            )
        assert made.status == 201, made
        async with Client(self.door.url, made.body["token"]) as client:
            return await Play(client, self.owners, self._tables, tenant, keyed=keyed).play(cutters, cuts)


def _judged(
    references: list[Ledger], controls: list[Ledger], cut: dict[str, list[Ledger]], short: bool
) -> Proof:
    wanted = [stable(states) for states in zip(*(one.states for one in references), strict=True)]
    ledgers = [ledger for some in cut.values() for ledger in some]
    doubled = [line for ledger in ledgers for line in _compared(wanted, ledger)]
    wrong = [line for ledger in (*references, *ledgers) for line in ledger.wrong]
    # What always passes the second hop; beside another's requests, something may seem to.
    reached = set.intersection(*(one.reached for one in (*controls, *cut["client"])))
    cuts = {hop: sum((one.cuts for one in some), Counter[str]()) for hop, some in cut.items()}
    unattacked = [
        f"{name} on the hop of the {hop}"
        for hop, needed in (("client", KEYED), ("owner", reached))
        for name in sorted(needed)
        if not cuts[hop][name]
    ]
    total, refused = sum(one.total() for one in cuts.values()), sum(one.refused for one in ledgers)
    few = (
        [] if short or (total >= _LEAST_CUTS and refused >= _LEAST_REFUSED) else ["too few cuts or refusals"]
    )
    for line in [*wrong, *unattacked, *few, *doubled][:_SHOWN]:
        print(f"  {line[:600]}")
    return Proof(
        n=total,
        faults=total,
        violations=len(doubled) + len(wrong) + len(unattacked) + len(few),
        control_violations=sum(len(_compared(wanted, one)) for one in controls),
        more={
            "cut_by_hop": {hop: one.total() for hop, one in cuts.items()},
            "operations": len(KEYED),
            "of_owners": len(reached),
            "refused_with_422": refused,
            "figures_compared": sum(map(len, wanted)),
            "duplicates": len(doubled),
            "unattacked": len(unattacked),
        },
    )


def _compared(wanted: list[dict[str, float]], ledger: Ledger) -> list[str]:
    return [
        line for one, found in zip(wanted, ledger.states, strict=True) for line in differences(one, found)
    ]


if __name__ == "__main__":
    run("P2", SEED, prove)
