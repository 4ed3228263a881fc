"""The graph of an index of kind `graph`: names and what connects them, communities by level with a report each, and search along it."""
