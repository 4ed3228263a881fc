"""Tools for a release: `install` (with uv), `lock` (pinned packages with their hashes), `licences`, `audit`, and `build`."""
