"""The migrations stand in one line, so that `upgrade head` knows where to go."""

from __future__ import annotations

from alembic.script import ScriptDirectory

from local.database import ROOT


def test_each_migration_follows_the_one_numbered_before_it() -> None:
    scripts = ScriptDirectory(str(ROOT / "alembic"))
    assert len(scripts.get_heads()) == 1
    line = [script.revision for script in scripts.walk_revisions()]
    assert line == sorted(line, reverse=True)
    assert [int(revision[:4]) for revision in reversed(line)] == [*range(1, len(line) + 1)]
