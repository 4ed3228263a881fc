"""The settings of every strategy: numbers, thresholds and names, with the papers' values as defaults.

An option that changes the graph (`joint`, `backtrace`, an ablation) is an argument of a strategy's `build`, never a setting.

`settings` are those of every strategy and the further ones of each, `building` those of a graph or a hierarchy.
"""

from ramify.nodes.settings.settings import (
    EMBEDDED,
    LARGE,
    NEVER,
    SPLITS,
    TAU,
    UNSURE,
    AskFirst,
    ChainSettings,
    GlobalSettings,
    IrcotSettings,
    IterativeSettings,
    PruneSettings,
    ReactSettings,
    Settings,
    TorSettings,
    TreeSettings,
    is_embedded,
    is_large,
)

__all__ = [
    "EMBEDDED",
    "LARGE",
    "NEVER",
    "SPLITS",
    "TAU",
    "UNSURE",
    "AskFirst",
    "ChainSettings",
    "GlobalSettings",
    "IrcotSettings",
    "IterativeSettings",
    "PruneSettings",
    "ReactSettings",
    "Settings",
    "TorSettings",
    "TreeSettings",
    "is_embedded",
    "is_large",
]
