"""An MCP server with the tools for agents."""
