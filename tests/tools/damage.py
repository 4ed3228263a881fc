"""What may become of a file."""


def damaged(content: bytes, old: bytes, new: bytes) -> dict[str, bytes]:
    """Return what is left of a file after each kind of damage; after "changed", one text in it is another."""
    middle = len(content) // 2
    return {
        "empty": b"",
        "cut": content[:middle],
        "flipped": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
        "changed": content.replace(old, new),
        "rubbish": b"rubbish" * 4000,
    }
