"""How tests are dealt out to processes: one by one, but those of a file that share something costly stay together and come first."""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    "tests/studio/server/dev/test_command.py": "dev server",
    "tests/studio/server/dev/test_runs.py": "dev server",
    "tests/studio/server/dev/test_threads.py": "dev server",
    "tests/studio/server/guard/test_bounds.py": "guard",
    "tests/studio/server/guard/test_limits.py": "guard",
    "tests/studio/server/guard/test_pages.py": "guard",
    "tests/studio/server/test_foreign_page.py": "foreign page",
    "tests/evaluation/test_degraded_search.py": "degraded",
    "tests/evaluation/test_true_groups.py": "degraded groups",
    "tests/evaluation/test_kinds.py": "kinds",
    "tests/evaluation/test_kinds_settings.py": "kinds settings",
    "tests/evaluation/report/test_report.py": "report",
    "tests/evaluation/report/test_page.py": "report page",
    "tests/graphs/test_memory.py": "memory",
    "tests/nodes/asking/test_learned_window.py": "learned window",
    "tests/studio/commands/test_index_in_milvus.py": "milvus at the doors",
    "tests/studio/commands/test_eval.py": "eval at the doors",
    "tests/studio/inspection/test_groups.py": "groups",
    "tests/studio/inspection/test_groups_page.py": "groups",
    "tests/studio/test_repeated_keys.py": "secrets",
    "tests/studio/test_secrets.py": "secrets",
    "tests/test_agents_page.py": "agents page",
    "tests/test_real_data.py": "real data",
    "tests/test_real_hierarchy.py": "real hierarchy",
    "tests/tools/index/test_vector_precision.py": "vectors",
    "tests/tools/milvus/test_index_in_milvus.py": "milvus",
    "tests/tools/milvus/test_tenants_and_refusals.py": "milvus tenants",
    "tests/tools/test_ray.py": "ray",
    "tests/training/test_kept_out.py": "kept out",
}
"""What a server, an index, a run or what was read is shared by. xdist's own mark for it is without effect since pytest 9.2."""

REAL = frozenset(
    {
        "tests/evaluation/load/test_real_data.py",
        "tests/prompts/test_replies_of_smollm2.py",
        "tests/studio/commands/test_index_in_milvus.py",
        "tests/test_real_data.py",
        "tests/test_real_hierarchy.py",
        "tests/tools/knowledge/test_graph_of_smollm2.py",
        "tests/tools/milvus/test_index_in_milvus.py",
        "tests/tools/milvus/test_tenants_and_refusals.py",
        "tests/tools/test_ray.py",
        "tests/training/test_kept_out.py",
    }
)
"""Files whose tests are marked `real`: `make test` leaves them out, `make test-all` runs them."""

SLOW = frozenset(
    {
        "tests/benchmarks/test_bench.py",
        "tests/benchmarks/test_real_questions.py",
        "tests/evaluation/report/test_report.py::test_the_same_run_gives_the_same_bytes_in_another_process",
        "tests/evaluation/report/test_side_by_side.py::test_the_same_runs_give_the_same_bytes",
        "tests/evaluation/report/test_tree.py::test_a_tree_is_drawn_as_on_the_page_of_one_answer",
        "tests/evaluation/test_degraded_answers.py::test_a_run_has_each_strategy_with_each_share_and_a_curve_from_none_on",
        "tests/evaluation/test_degraded_search.py",
        "tests/evaluation/test_disturbed_runs.py",
        "tests/fuzz/test_fuzz.py",
        "tests/graphs/test_any_model.py",
        "tests/graphs/test_determinism.py::test_the_embedded_model_gives_the_same_tree_twice",
        "tests/graphs/test_doors_with_smollm2.py",
        "tests/graphs/test_fault_matrix.py",
        "tests/graphs/test_faulty_servers.py",
        "tests/graphs/test_killed.py",
        "tests/graphs/test_loading.py::test_loading_is_no_part_of_the_seconds",
        "tests/graphs/test_memory.py",
        "tests/graphs/test_odd_replies.py::test_more_braces_than_are_read_are_a_malformed_reply",
        "tests/graphs/test_shapes_page.py",
        "tests/graphs/test_thinking.py::test_a_budget_of_tokens_holds_for_thoughts",
        "tests/graphs/test_tool_killed.py",
        "tests/nodes/asking/test_ask.py::test_long_replies_keep_the_budget_of_tokens_also_side_by_side_and_step_after_step",
        "tests/released/test_released.py",
        "tests/studio/commands/test_chat.py::test_ctrl_c_stops_the_answer_and_the_conversation_goes_on",
        "tests/studio/commands/test_chat.py::test_every_question_in_another_language_is_told_about_once",
        "tests/studio/commands/test_download_reader.py",
        "tests/studio/commands/test_eval.py::test_an_embedding_that_is_not_there_costs_nothing_and_the_folder_is_free_for_another",
        "tests/studio/commands/test_eval_processes.py",
        "tests/studio/commands/test_mcp.py::test_it_says_where_it_is_and_a_signal_ends_it",
        "tests/studio/commands/test_reproduce.py",
        "tests/studio/commands/test_watch.py::test_it_indexes_what_changes_until_ctrl_c",
        "tests/studio/console/test_reproducing.py",
        "tests/studio/notebook/test_tour.py",
        "tests/studio/serve/test_clients.py",
        "tests/studio/serve/test_many_people.py",
        "tests/studio/serve/test_mcp_stdio.py",
        "tests/studio/serve/test_signals.py",
        "tests/studio/serve/test_watching.py",
        "tests/studio/server/dev/test_command.py",
        "tests/studio/server/dev/test_runs.py",
        "tests/studio/server/dev/test_threads.py",
        "tests/studio/server/guard/test_bounds.py",
        "tests/studio/server/guard/test_limits.py",
        "tests/studio/server/guard/test_pages.py",
        "tests/studio/server/test_foreign_page.py",
        "tests/studio/test_completion.py::test_shells_complete_commands_and_options",
        "tests/studio/test_hostile_documents.py",
        "tests/studio/test_interruption.py::test_ctrl_c_waits_for_no_thread_that_loads",
        "tests/studio/test_read_once.py",
        "tests/studio/test_repeated_keys.py",
        "tests/studio/test_secrets.py",
        "tests/studio/test_servers.py",
        "tests/test_agents_page.py",
        "tests/test_docs.py::test_the_commands_for_ones_own_documents_run",
        "tests/test_docs.py::test_the_first_commands_for_measuring_run",
        "tests/test_growth.py",
        "tests/tools/documents/test_growth.py",
        "tests/tools/embeddings/test_embeddings.py::test_a_processor_can_be_restricted_to_compute_without_bfloat16",
        "tests/tools/embeddings/test_embeddings.py::test_minilm_gives_the_vectors_of_sentence_transformers",
        "tests/tools/hierarchy/test_damaged.py",
        "tests/tools/hierarchy/test_killed.py",
        "tests/tools/index/test_damage.py",
        "tests/tools/index/test_incremental_update_killed.py",
        "tests/tools/index/test_duplicates_updated.py::test_are_those_of_a_new_index",
        "tests/tools/index/test_vector_precision.py",
        "tests/tools/knowledge/test_build_killed.py",
        "tests/tools/models/test_gguf.py",
        "tests/torture/test_torture.py",
        "tests/training/test_training.py",
    }
)
"""Files and tests that are marked `slow`, for the same: they kill processes, start servers, or run one thing many times over."""


class Sharing(LoadScopeScheduling):
    """Deal out groups of tests, the larger ones first."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def is_slow(nodeid: str) -> bool:
    """Return whether a test is marked `slow`."""
    return not SLOW.isdisjoint((nodeid.partition("::")[0], nodeid.partition("[")[0]))


def group(nodeid: str) -> str:
    """Name the group of a test; most are a group of their own. All that run the small model are one: side by side they slow each other."""
    file = nodeid.partition("::")[0]
    return "smollm2" if "smollm2" in file else TOGETHER.get(file, nodeid)
