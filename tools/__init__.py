"""Libraries used by the steps, independent of trees and prompts.

* a corpus: `documents` reads files, `embeddings` encodes texts, `index` stores both, and `search` finds each `passage` in
  indexes and other stores; `demo` is a small corpus that is installed with ramify
* models: `models` by name; a plug-in's `reader` reranks passages and checks sentences
* `plugins`: what installed packages add to ramify
* for all interfaces: `pages`, `checkup`, `errors`, `user_input` (validation), `new_files`, `shared`, `scrub`, `server_address`;
  `released` models, their `downloads` (by `pip`) and `released_weights`; the `profile` of a calibration, by which answers are withheld
* texts: `questions_by_rules` that passages answer,
  `english`, `anaphora` (pronouns and fragments), `identifiers` (codes and exact numbers), `languages`, `no_answer` (replies
  without one, by its `no_answer_words`), `quoting`, `steps` (the order of a procedure), `supporting_sentence`, `text_location`,
  `versions`, `names` in texts with their `inflection`
"""

__all__ = ["documents", "embeddings", "errors", "index", "models"]
