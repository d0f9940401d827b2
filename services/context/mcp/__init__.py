"""MCP at /mcp: tools, resources and prompts over the same routes, keys and limits as REST. Stateless, both eras."""
