"""Chat models: resolved by name, limited in concurrency, with token counts and structured replies.

* find: `named` (resolves names), `model` (the common interface), `clients` (LangChain's), `openai` (of them, one with thoughts),
  `gguf` (run in this process: `gguf_header` reads a file, `gguf_adapter` finds its adapter)
* a call: `structured_call`, `concurrency` (limits shared by callers)
* tokens: `tokens` counts them, also by the counts that servers report
* a reply: `reply_parsing` (also: confidence from log probabilities), `loose_json` (what models write in place of JSON)
* a server: `servers` (its errors), `server_info` (its models, windows and tokenizers)
"""

from ramify.tools.models._model import Model, ModelOptions
from ramify.tools.models.named import clear_cache, find_best, resolve_model
from ramify.tools.models.reply_parsing import Structured

__all__ = ["Model", "ModelOptions", "Structured", "clear_cache", "find_best", "resolve_model"]
