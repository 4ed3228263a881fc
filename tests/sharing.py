"""Distribution of tests to processes: one by one, except that files sharing something costly stay together and come first.

And which are left out: those marked `real` and `slow`, and where a plug-in is absent, those that need it.
"""

from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from xdist.scheduler import LoadScopeScheduling

SHARED_FILES = {
    "tests/studio/server/dev/test_command.py": "dev server",
    "tests/studio/server/dev/test_runs.py": "dev server",
    "tests/studio/server/dev/test_threads.py": "dev server",
    "tests/studio/server/guard/test_bounds.py": "guard",
    "tests/studio/server/guard/test_limits.py": "guard",
    "tests/studio/server/guard/test_pages.py": "guard",
    "tests/studio/server/test_foreign_page.py": "foreign page",
    "plugins/lab/tests/test_degraded_search.py": "degraded",
    "plugins/lab/tests/test_true_groups.py": "degraded groups",
    "plugins/lab/tests/test_kinds.py": "kinds",
    "plugins/lab/tests/test_kinds_settings.py": "kinds settings",
    "plugins/lab/tests/report/test_report.py": "report",
    "plugins/lab/tests/report/test_page.py": "report page",
    "tests/graphs/test_memory.py": "memory",
    "tests/graphs/test_shapes.py": "shapes",
    "tests/graphs/test_shapes_page.py": "shapes",
    "tests/nodes/asking/test_learned_window.py": "learned window",
    "plugins/stores/tests/test_index_in_milvus.py": "milvus commands",
    "plugins/lab/tests/commands/test_eval.py": "eval command",
    "plugins/lab/tests/inspection/test_groups.py": "groups",
    "plugins/lab/tests/inspection/test_groups_page.py": "groups",
    "tests/studio/test_repeated_keys.py": "secrets",
    "tests/studio/test_secrets.py": "secrets",
    "tests/test_agents_page.py": "agents page",
    "tests/test_real_data.py": "real data",
    "plugins/kinds/tests/test_real_hierarchy.py": "real hierarchy",
    "tests/tools/index/test_vector_precision.py": "vectors",
    "plugins/stores/tests/milvus/test_index_in_milvus.py": "milvus",
    "plugins/stores/tests/milvus/test_tenants_and_refusals.py": "milvus tenants",
    "plugins/stores/tests/test_ray.py": "ray",
    "plugins/embedded/tests/training/test_kept_out.py": "kept out",
}
"""Files whose tests share a server, an index, a run or data. xdist's own mark for it is without effect since pytest 9.2."""

REAL_FILES = frozenset(
    {
        "plugins/lab/tests/load/test_real_data.py",
        "tests/prompts/test_replies_of_smollm2.py",
        "plugins/lab/tests/commands/test_eval_adapter.py",
        "plugins/stores/tests/test_index_in_milvus.py",
        "tests/test_real_data.py",
        "plugins/kinds/tests/test_real_hierarchy.py",
        "plugins/kinds/tests/knowledge/test_graph_of_smollm2.py",
        "plugins/stores/tests/milvus/test_index_in_milvus.py",
        "plugins/stores/tests/milvus/test_tenants_and_refusals.py",
        "plugins/stores/tests/test_ray.py",
        "plugins/embedded/tests/training/test_kept_out.py",
        "plugins/embedded/tests/training/llm/test_lora_of_smollm2.py",
    }
)
"""Files whose tests are marked `real`: `make test` leaves them out, `make test-all` runs them."""

SLOW_TESTS_FILE = Path(__file__).with_name("slow.txt")
SLOW_TESTS = frozenset(SLOW_TESTS_FILE.read_text(encoding="utf-8").splitlines())
"""Files and tests that are marked `slow`, for the same: they take longer than others; `tests/durations.py` makes the list."""

NEEDS_FILE = Path(__file__).with_name("needs.txt")
NEEDS = {name: plugin for plugin, name in (line.split() for line in NEEDS_FILE.read_text(encoding="utf-8").splitlines())}
"""Folders, files and tests of `tests/` that need a plug-in, with its name: they ask its model, or show what it makes of an answer."""
ABSENT = {plugin for plugin in NEEDS.values() if find_spec(f"ramify.{plugin}") is None}


class SharedScheduling(LoadScopeScheduling):
    """Distributes groups of tests, the larger ones first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of_test(nodeid)


def is_slow(nodeid: str) -> bool:
    """Return whether a test is marked `slow`."""
    return not SLOW_TESTS.isdisjoint((nodeid.partition("::")[0], nodeid.partition("[")[0]))


def needed_plugin(nodeid: str) -> str:
    """Return the plug-in that a folder, file or test of the core needs, or ""."""
    file = nodeid.partition("::")[0]
    names = (nodeid, nodeid.partition("[")[0], file, *map(str, PurePosixPath(file).parents))
    return next((NEEDS[name] for name in names if name in NEEDS), "")


def absent_plugin(nodeid: str) -> str:
    """Return the plug-in that a folder, file or test needs and that is not installed, or ""."""
    plugin = needed_plugin(nodeid)
    return plugin if plugin in ABSENT else ""


def group_of_test(nodeid: str) -> str:
    """Return the group of a test; most are their own group. All that run the small model are one: side by side they slow each other."""
    file = nodeid.partition("::")[0]
    return "smollm2" if "smollm2" in file else SHARED_FILES.get(file, nodeid)
