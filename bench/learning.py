"""Do weights learned from feedback help? Simulated callers with different useful sources, judged on held-out questions.

`python -m bench.learning`: the share of the evidence inside a block of 1,000 tokens (B1000) before any feedback,
after the cycles, after what is useful has changed, and after more cycles. Ranking, packing, and the evaluation of
feedback are the services' own; questions and candidates are drawn at random.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.context import stores
from services.context.assembly import record
from services.context.assembly.choice import Chosen, choose
from services.context.assembly.rendering import handle_of
from services.context.learning import rules as learning
from services.context.learning.evaluation import START
from services.context.learning.rules import Experience, Setting
from shared.render import Fence
from shared.search.evidence import Candidate
from shared.search.relevance import Scored

SEED = 20_264
BUDGET = 1_000
CYCLES = 20
HELD_OUT = 150
# Feedback forgets to name a useful item, and names useless ones.
MISSED, INVENTED = 0.15, 0.05
_SOURCES = tuple(stores.BY_NAME)
_PER_SOURCE = 6
_EVIDENCE = 3
_NOW = datetime(2026, 7, 4, 12, tzinfo=UTC)
_FENCE = Fence(_NOW, "k3f")


@dataclass(frozen=True)
class Caller:
    name: str
    useful: tuple[str, ...]
    gives_feedback: bool = True


@dataclass(frozen=True)
class Question:
    scored: list[Scored]
    evidence: frozenset[str]


def callers() -> list[Caller]:
    """Every pair of the stores, and one who never says what was of use."""
    pairs = [Caller(" + ".join(pair), pair) for pair in itertools.combinations(_SOURCES, 2)]
    return [*pairs, Caller("without feedback", _SOURCES[:2], gives_feedback=False)]


def ask(random_: random.Random, useful: Sequence[str], numbers: itertools.count[int]) -> Question:
    """Evidence stands in the useful sources; what resembles it, as relevant to the eye, in all."""
    scored, evidence = [], set()
    wanted = [random_.choice(useful) for _ in range(_EVIDENCE)]
    for source in _SOURCES:
        scored += [
            _candidate(random_, source, random_.gauss(0.5, 0.12), next(numbers)) for _ in range(_PER_SOURCE)
        ]
        for _ in range(wanted.count(source)):
            one = _candidate(random_, source, random_.gauss(0.52, 0.12), next(numbers))
            scored.append(one)
            evidence.add(handle_of(one.candidate, one.store))
    return Question(scored, frozenset(evidence))


def _candidate(random_: random.Random, source: str, relevance: float, number: int) -> Scored:
    relevance = min(0.99, max(0.15, relevance))
    candidate = Candidate(
        id=number,
        scope="shared",
        kind="note",
        text=f"{number} " + "word " * random_.randint(30, 90),
        created_at=_NOW - timedelta(hours=random_.random()),
    )
    return Scored(source, candidate, relevance, relevance, relevance, relevance)


def assemble(question: Question, settings: Mapping[str, Setting]) -> Chosen:
    return choose(
        question.scored,
        {source: setting.weight for source, setting in settings.items()},
        {source: setting.token_share for source, setting in settings.items()},
        BUDGET,
        _FENCE,
    )


def block_share(questions: Sequence[Question], settings: Mapping[str, Setting]) -> float:
    """B1000: the mean share of a question's evidence that is in its block."""
    shares = []
    for question in questions:
        inside = {one.handle for one in record.logged(assemble(question, settings)) if one.taken}
        shares.append(len(inside & question.evidence) / len(question.evidence))
    return sum(shares) / len(shares)


def cycle(
    random_: random.Random,
    caller: Caller,
    useful: Sequence[str],
    settings: dict[str, Setting],
    numbers: itertools.count[int],
) -> dict[str, Setting]:
    if not caller.gives_feedback:
        return settings
    batch = []
    for _ in range(learning.EVAL_BATCH_SIZE):
        question = ask(random_, useful, numbers)
        rows = record.logged(assemble(question, settings))
        used = frozenset(
            row.handle
            for row in rows
            if row.taken and random_.random() < (1 - MISSED if row.handle in question.evidence else INVENTED)
        )
        total = sum(row.taken for row in rows)
        batch.append(Experience(rows, used, True, BUDGET, total))
    return {**settings, **learning.adjust(settings, START, learning.measure(batch))}


def simulate(caller: Caller, seed: int, cycles: int = CYCLES, held_out: int = HELD_OUT) -> dict[str, float]:
    """`changed`: other sources became useful; `recovered`: after as many cycles again."""
    random_ = random.Random(f"{seed} {caller.name}")
    numbers = itertools.count(1)
    others = tuple(source for source in _SOURCES if source not in caller.useful)[:2]
    questions = {
        useful: [ask(random_, useful, numbers) for _ in range(held_out)] for useful in (caller.useful, others)
    }
    settings = dict(START)
    figures = {"before": block_share(questions[caller.useful], settings)}
    for _ in range(cycles):
        settings = cycle(random_, caller, caller.useful, settings, numbers)
    figures["after"] = block_share(questions[caller.useful], settings)
    learned = settings
    figures["others_before"] = block_share(questions[others], dict(START))
    figures["changed"] = block_share(questions[others], settings)
    for _ in range(cycles):
        settings = cycle(random_, caller, others, settings, numbers)
    figures["recovered"] = block_share(questions[others], settings)
    figures["moved"] = max(abs(learned[source].weight - START[source].weight) for source in _SOURCES)
    return figures


def main() -> None:
    results = {caller.name: simulate(caller, SEED) for caller in callers()}
    print(
        f"B1000 on {HELD_OUT} held-out questions a caller, {CYCLES} cycles of {learning.EVAL_BATCH_SIZE}, seed {SEED}"
    )
    columns = ("before", "after", "others_before", "changed", "recovered")
    print(f"{'useful sources':42}" + "".join(f"{name:>14}" for name in columns))
    for name, figures in results.items():
        print(f"{name:42}" + "".join(f"{figures[column]:14.3f}" for column in columns))
    learners = [figures for name, figures in results.items() if name != "without feedback"]
    silent = results["without feedback"]
    summary = {
        "before": sum(one["before"] for one in learners) / len(learners),
        "after": sum(one["after"] for one in learners) / len(learners),
        "least_gain": min(one["after"] - one["before"] for one in learners),
        "least_recovery": min(one["recovered"] - one["changed"] for one in learners),
        "unchanged_without_feedback": silent["moved"] == 0.0 and silent["before"] == silent["after"],
        "callers": len(learners),
        "seed": SEED,
    }
    print(
        json.dumps(
            {key: round(value, 4) if isinstance(value, float) else value for key, value in summary.items()}
        )
    )


if __name__ == "__main__":
    main()
