"""The control of the MCP proof: the context service with sessions that live in one process."""

from collections.abc import Sequence
from typing import Any

import services.context.mcp.server as server
from services.context.__main__ import main

_stateless = server.manager


def _stateful(document: dict[str, Any], version: str, hosts: Sequence[str]) -> Any:
    made = _stateless(document, version, hosts)
    made.stateless = False
    return made


if __name__ == "__main__":
    server.manager = _stateful
    main()
