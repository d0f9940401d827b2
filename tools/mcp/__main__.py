"""Publishes the list of MCP tools again, unless the change could break a client."""

import json
import sys

from tools.mcp.snapshot import PUBLISHED, breaks, build, rendered

if __name__ == "__main__":
    now = build()
    if PUBLISHED.exists() and (broken := breaks(json.loads(PUBLISHED.read_text()), now)):
        sys.exit("clients of MCP keep lists of tools, so these only grow:\n  " + "\n  ".join(broken))
    PUBLISHED.write_text(rendered(now))
