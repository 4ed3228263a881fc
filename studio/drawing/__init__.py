"""An answer and its tree as they are shown: in a terminal, on a page, as Mermaid."""
