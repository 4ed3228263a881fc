"""What a node reaches for: the corpus index, chat models, embeddings."""
