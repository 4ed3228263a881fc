"""Questions over the manuals of Git, PostgreSQL, Python and R, and how they are measured."""
