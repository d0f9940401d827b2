"""T1 to T8, T12 and the memory of copies in one go: `make bench-promises`, SCALE=small for minutes.

Runs the benches that measure them one after the other, and prints each promise with its bar.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from bench.promises import figures
from local.database import ROOT

# By name: the module, and its arguments. Growth is that of many tenants, whose peers are few.
_BENCHES = {
    "resident": ["bench.promises.resident"],
    "hot": ["bench.promises.hot"],
    "copies": ["bench.promises.copies"],
    "cache": ["bench.cache"],
    "assemble": ["bench.assemble"],
    "growth": ["bench.growth", "--tenants", "1000"],
}


def main() -> None:
    chosen = sys.argv[1:] or [*_BENCHES]
    found = {name: _run(name) for name in chosen}
    if set(chosen) < set(_BENCHES):
        print(json.dumps(found))
        return
    print(f"{figures.table(found)}\n{json.dumps({**figures.answer(found), 'figures': found})}")


def _run(name: str) -> Any:
    print(f"{name} ...", file=sys.stderr)
    argv = [sys.executable, "-m", *_BENCHES[name]]
    ran = subprocess.run(argv, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(argv)} failed:\n{ran.stdout}")
    return json.loads(ran.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
