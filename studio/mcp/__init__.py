"""The tools for agents over MCP."""
