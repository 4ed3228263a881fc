"""The server of `ramify serve`: questions over HTTP, for the page, for scripts, and for programs that speak OpenAI's or Ollama's protocol,
or MCP.

* what is served: `catalog` (collections, strategies, models), `serving` (a request becomes a question), `settings_of` a strategy
* what users make there: `collections`, through `collections_api`; what follows a folder: `watching`
* a question: `questions` (the queue, and the events of an answer), `streams` (how they are sent), `threads` (conversations),
  `reviewing` (what a person decides)
* an answer as a page, and what a page says of it: `answers`
* the protocols: `json_api` (our own), `openai` with `responses`, `ollama`; all but ours share `chat`, and answer in `markdown`; and `mcp`,
  also for `ramify mcp --http`
* a request: `bodies` are checked, `users` are told apart by their tokens, `sources` gives the text and the file of a passage
* `page` is what a browser sees, `app` puts all together, `web_server` runs it
"""

__all__: list[str] = []
