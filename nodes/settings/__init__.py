"""The settings of every strategy: numbers, thresholds and names, with the papers' values as defaults.

An option that changes the graph (`joint`, `backtrace`, an ablation) is an argument of a strategy's `build`, never a setting.

`settings` are those of every strategy and the further ones of each, `building` those of a graph or a hierarchy.
"""

from ramify.nodes.settings.settings import (
    EMBEDDED,
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
)

__all__ = [
    "EMBEDDED",
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
]
