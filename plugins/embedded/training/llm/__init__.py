"""Train a LoRA adapter of a small language model on examples in the toolkit's own prompts.

* commands: `examples` (makes them all and writes them), `grown` (those of the trees of a run, and pairs)
* material: `hops` (questions with their steps), `shown` (passages as a search returns them)
* words: `statements` (answers as statements), `texts` (answers in sentences)
* prompts: `answers` (answer), `decisions` (decide, decompose after a search), `splits` (decompose, next_question), `finals` (finalize),
  `judgements` (judge), `follow_ups` (contextualize), `rendered` (their messages)

What follows needs torch, transformers and gguf, not ramify: `base` reads the model from its GGUF file, `rows` turns examples into rows of
tokens, `lora` trains, `adapter` writes the adapter as a GGUF file and compares llama.cpp with it to the trained network. `replies` compares
what the model writes with and without it.

`__main__` makes all of it with one command. `peft` writes the adapter in PEFT's format, `metadata` is what its files tell of it, `card`
writes its model card, and `licences` knows the data sets.
"""
