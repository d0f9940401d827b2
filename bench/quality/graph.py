"""What facts in the graph cost: the questions of a data set before and after its facts are written.

Facts are those that `remember` would state of each turn, and besides `speaker, talks about, name` for each name in a
turn, so that nearly every question finds facts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from bench.client import Client
from bench.quality.dataset import Row
from bench.quality.summary import PLAIN, Result
from shared.sentences.triples import Triple, triples

_BATCH = 100
# Not at the beginning of a sentence, where every word has a capital.
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,20}(?: [A-Z][a-z]{2,20}){0,2}")


def facts(row: Row) -> Iterator[Triple]:
    speaker, text = row.body["speaker"], row.body["content"]
    yield from triples(text, speaker)
    if speaker:
        yield from (Triple(speaker, "talks about", name, single=False) for name in _NAME.findall(text))


async def write(client: Client, missions: Mapping[str, str], rows: Sequence[Row]) -> int:
    """Returns how many facts were written."""
    count = 0
    for group, mission in missions.items():
        stated = [
            {**fact._asdict(), "scope": f"mission:{mission}", "valid_from": row.body["occurred_at"]}
            for row in rows
            if row.group == group
            for fact in facts(row)
        ]
        for start in range(0, len(stated), _BATCH):
            batch = stated[start : start + _BATCH]
            await client.post("/api/kg/batch", {"facts": batch})
            count += len(batch)
    return count


def beside(without: Sequence[Result], with_facts: Sequence[Result]) -> list[Result]:
    """The results with facts, and those without as their plain arm."""
    for before, after in zip(without, with_facts, strict=True):
        after.arms[PLAIN] = before.arms["fused"]
    return list(with_facts)


def share_with_facts(results: Sequence[Result]) -> float:
    """The share of questions whose largest block shows facts."""
    return round(sum(one.facts > 0 for one in results) / len(results), 4)
