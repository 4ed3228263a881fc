"""Chat models by name: reached, capped, counted, and answering with values.

* found: `named` (from a name to a model), `model` (what every model is to the toolkit), `shipped` (those that come as a package)
* of one kind each: `ollama`, `langchain_models`, `gguf` with `gguf_header`; `server_pool` of several `pooled_server`s
* a call: `structured_call`, `concurrency` (how many at once), `server_load` (how long each may take), `caches`
* tokens: `tokens` counts them, `learned_tokens` by what servers report
* a reply: `reply_parsing`, `json_text`, `broken_characters`, `odd_counts`, `confidence`
* a server: `server_questions`, `server_errors`, `server_record` (what calls have shown of it), `client_logs` (without keys)
"""

from ramify.tools.models.model import Model, ModelOptions
from ramify.tools.models.named import find_best, forget, resolve
from ramify.tools.models.reply_parsing import Structured

__all__ = ["Model", "ModelOptions", "Structured", "find_best", "forget", "resolve"]
