"""Sessions made by chance: what an agent learns of many services, and asks again. Pure, and the same for a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.delta.playing import Step
from bench.demo.agent import Write

STEPS = 30
_NOTES = 3
# How often a question comes back to the services that were asked about last.
_STAYS = 0.6
_NOUNS = "ledger mailer gateway index cache queue catalog router billing search upload archive monitor invoice".split()  # noqa: SIM905
_PLACES = "Lisbon Porto Oslo Bergen Turin Gdansk Lyon Ghent Split Riga Cork Bern Graz Malmo".split()  # noqa: SIM905
_FORMS = (
    "The {noun} service of {place} keeps {number} replicas behind one proxy.",
    "In {place}, the {noun} service times out after {number} seconds under load.",
    "Owner of the {noun} service in {place} is team {number}.",
    "The {noun} service in {place} writes its dump to bucket {number} each night.",
)


def steps(mission: str, seed: int) -> Iterator[Step]:
    chance = random.Random(seed)
    known: list[tuple[str, str, str]] = []
    asked = ("", "")
    for turn in range(STEPS):
        writes = []
        for _ in range(_NOTES):
            noun, place = chance.choice(_NOUNS), chance.choice(_PLACES)
            text = chance.choice(_FORMS).format(noun=noun, place=place, number=chance.randrange(100, 999))
            known.append((noun, place, text))
            body = {
                "mission_id": mission,
                "context_type": "intel",
                "intel_source": "generated",
                "content": text,
            }
            writes.append(Write("/api/psychic-cache/write", body))
        again = [one for one in known if one[:2] == asked]
        noun, place, text = chance.choice(again if again and chance.random() < _STAYS else known)
        asked = (noun, place)
        yield Step(writes, f"What is known of the {noun} service in {place}, turn {turn}?", text)
