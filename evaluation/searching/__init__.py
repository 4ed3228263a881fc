"""Searching alone, without a model: `search_variants`; where metadata are degraded: `degraded_cells`, `degraded_search`, `true_groups`."""
