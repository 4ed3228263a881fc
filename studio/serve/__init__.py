"""The server of `ramify serve`: questions over HTTP, for the page, for scripts, and for programs that speak OpenAI's or Ollama's protocol,
or MCP.

* what is served: the `catalog` (collections, strategies, models), the `collections` that users make or that follow a folder
* a question: `serving` (a request becomes a question, of a conversation or not), `questions` (the queue, and the events of an answer)
* the protocols: `json_api` (our own) with `answers`, `openai`, `ollama`, which share `chat`, and `mcp`, also for `ramify mcp`
* `transport` is the HTTP that they share, `app` puts all together
"""

__all__: list[str] = []
