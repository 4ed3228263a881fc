"""The way to the model: `ask` renders a prompt, makes it `fit`, asks within the `budget`, and reads the reply."""
