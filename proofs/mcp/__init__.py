"""Any MCP client works on any replica."""
