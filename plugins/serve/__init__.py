"""The server of `ramify serve`: questions over HTTP, for its web page, scripts, and clients of OpenAI's or Ollama's protocol or MCP.

* what is served: the `catalog` (collections, strategies, models), the `collections` that users create or that follow a folder, with
  `collection_folders` (their files) and `build_jobs` (their indexing)
* `suggesting`: questions to begin with, by rules or by the model
* a question: `service` (submits requests as questions, with or without a conversation), `questions` (the queue, the events of an answer)
* the protocols: `json_api` (ramify's own) with `answers`, `openai`, `ollama`, which share `chat`, and `mcp`, also for `ramify mcp`;
  `public` leaves out the folders of the server
* `mcp_stdio` is MCP's transport on stdin and stdout, `mcp_app` the view of an answer that MCP hosts show
* `commands` of the command line; `watching` keeps an index up to date for `ramify watch` and the server;
  `collection_tests` runs the tests of a collection
* `transport` is the HTTP layer of all protocols, `app` builds the application
"""

__all__: list[str] = []
