"""A folder of documents in the vault: files a second, what a second run writes, and retrieval quality: DATA=folder."""

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from bench.cluster import temporary_database
from bench.quality.dataset import Query, load
from bench.quality.metrics import ndcg, recall
from services.agent_memory.app import Services, connect, opened
from services.agent_memory.settings import Settings
from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.schemas import SearchVaultInput
from shared.auth import Principal
from shared.deadline import Deadline

_TENANT = "bench"
_WHO = Principal(_TENANT, "bench", frozenset({"read", "write", "admin"}))
_NOTES, _LINKS, _CHANGED = 1_000, 5, 7
_PAGE = 100
_AT_ONCE = 2
_WORDS = "ledger webhook failover replica carpenter invoice deploy lock payment region timeout retry".split()  # noqa: SIM905


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.vault", description=__doc__)
    parser.add_argument(
        "data", nargs="?", default=os.environ.get("DATA"), help="else notes that link each other"
    )
    arguments = parser.parse_args()
    queries: list[Query] = []
    if arguments.data:
        rows, queries = load(Path(arguments.data))
        texts = {f"shared/{row.id}.md": _document(row.body["content"]) for row in rows}
    else:
        texts = _notes()
    with temporary_database() as database, tempfile.TemporaryDirectory() as root:
        _write(Path(root) / _TENANT, texts)
        settings = Settings.from_env(
            {
                "DATABASE_URL": database.services["agent_memory"],
                "REDIS_URL": "redis://127.0.0.1:1",
                "SCRUBJAY_AGENT_MEMORY_SECRET": "bench",
                "VAULT_ROOT": root,
                **{name: value for name, value in os.environ.items() if name.startswith("SCRUBJAY_EMBED")},
            }
        )
        asyncio.run(_measure(settings, Path(root) / _TENANT, texts, queries))


def _document(text: str) -> str:
    title, _, rest = text.partition(". ")
    return f"# {title.rstrip('.')}\n\n{rest}\n"


def _notes() -> dict[str, str]:
    """Notes of some paragraphs, each of which links others."""
    chance = random.Random(18)
    texts = {}
    for number in range(_NOTES):
        links = " ".join(f"[[note {chance.randrange(_NOTES)}]]" for _ in range(_LINKS))
        body = "\n\n".join(" ".join(chance.choices(_WORDS, k=60)) for _ in range(4))
        texts[f"shared/note {number}.md"] = (
            f"---\ntags: [bench]\n---\n# note {number}\n\n{body}\n\nSee {links}.\n"
        )
    return texts


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


async def _measure(settings: Settings, folder: Path, texts: dict[str, str], queries: Sequence[Query]) -> None:
    async with opened(settings, connect(settings)) as services:
        await _run(services, "new")
        await _run(services, "nothing changed")
        changed = sorted(texts)[:_CHANGED]
        _write(folder, {path: texts[path] + "\nIt was changed.\n" for path in changed})
        await _run(services, f"{_CHANGED} changed")
        _write(folder, {path: texts[path] for path in changed})
        await _run(services, f"{_CHANGED} changed back")
        if queries:
            await _wait(services)
            await _ask(services, queries)


async def _run(services: Services, what: str) -> None:
    begun = time.monotonic()
    progress = await services.folder_index.run(_TENANT)
    assert isinstance(progress, Progress)
    seconds = time.monotonic() - begun
    print(
        f"{what}: {progress.files} files in {seconds:.1f} s, {progress.files / seconds:.0f} a second;"
        f" {progress.changed} written, {progress.unchanged} unchanged, {progress.refusals} refused",
        flush=True,
    )


async def _wait(services: Services) -> None:
    """Until all files have their vectors."""
    begun = time.monotonic()
    cursor: str | None = None
    while True:
        page = await services.vault.list_files(_WHO, None, cursor, _PAGE, Deadline(60))
        if not all(file.indexed for file in page.data):
            await asyncio.sleep(2)
        elif page.next is None:
            break
        else:
            cursor = page.next
    print(f"vectors: {time.monotonic() - begun:.0f} s", flush=True)


async def _ask(services: Services, queries: Sequence[Query]) -> None:
    free = asyncio.Semaphore(_AT_ONCE)

    async def ranked(query: Query) -> list[str]:
        async with free:
            request = SearchVaultInput(query=query.text, limit=10)
            found = await services.vault_search.query(_WHO, request, Deadline(60))
            return [file.path.removeprefix("shared/").removesuffix(".md") for file in found.files]

    answers = await asyncio.gather(*map(ranked, queries))
    pairs = list(zip(answers, queries, strict=True))
    print(
        f"{len(queries)} questions: nDCG@10 {fmean(ndcg(answer, query.gold) for answer, query in pairs):.3f},"
        f" R@10 {fmean(recall(answer, query.gold, 10) for answer, query in pairs):.3f}"
    )


if __name__ == "__main__":
    main()
