"""What a release is made with: `lock` (pinned packages with their hashes), `licences`, `audit`, and `build`, which a person runs."""
