"""Train the embedded reader. Nothing here is part of the installed package: run it from a clone, see README.md."""
