"""A context service that divides each store's scores by the store's best: the control of `proofs.junk`.

Run as `python -m proofs.junk.normalised`.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.context import app
from services.context.assembly import service
from services.context.settings import Settings
from shared.search.evidence import SearchResult
from shared.search.relevance import Question, Scored, score
from shared.web.serving.server import serve


def main() -> None:
    service.score = _per_store  # type: ignore[attr-defined]
    settings = Settings.from_env()
    serve(app.create(settings), settings.host, settings.port, 0.3)


def _per_store(question: Question, results: Iterable[SearchResult]) -> list[Scored]:
    scored = score(question, results)
    best: dict[str, tuple[float, float]] = {}
    for each in scored:
        evidence, relevance = best.get(each.store, (0.0, 0.0))
        best[each.store] = max(evidence, each.evidence), max(relevance, each.relevance)
    return [
        each._replace(evidence=_share(each.evidence, evidence), relevance=_share(each.relevance, relevance))
        for each in scored
        for evidence, relevance in [best[each.store]]
    ]


def _share(value: float, best: float) -> float:
    return value / best if best else 0.0


if __name__ == "__main__":
    main()
