"""Run a proof in its full form: python -m tests.proofs mcp [--calls N] [--seed N]."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys

from tests.proofs import mcp_full


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs", description=__doc__)
    parser.add_argument("proof", choices=["mcp"])
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=20_261)
    arguments = parser.parse_args()
    # The proxy in front of a killed replica has much to say.
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    result = asyncio.run(mcp_full.run(arguments.calls, arguments.seed))
    print(json.dumps(result))
    sys.exit(1 if result["violations"] or not result["control_violations"] else 0)


if __name__ == "__main__":
    main()
