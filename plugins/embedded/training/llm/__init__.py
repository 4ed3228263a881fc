"""Train a LoRA adapter of a small language model in the toolkit's own prompts. It needs torch, transformers and gguf, not ramify.

`base` reads the model from its GGUF file, `rows` turns examples into rows of tokens, `lora` trains, `adapter` writes the adapter as a GGUF
file and compares llama.cpp with it to the trained network.
"""
