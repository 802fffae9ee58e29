"""dbt's own test suite for adapters: hooks before and after models, seeds, snapshots and runs.

The suite is written for Postgres; here the columns are Spark's, and so are the texts that hooks leave.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from dbt.tests.adapter.hooks import fixtures
from dbt.tests.adapter.hooks.test_model_hooks import (
    MODEL_POST_HOOK,
    MODEL_PRE_HOOK,
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

FIELDS = (
    "test_state",
    "target_dbname",
    "target_host",
    "target_name",
    "target_schema",
    "target_type",
    "target_user",
    "target_pass",
    "target_threads",
    "run_started_at",
    "invocation_id",
    "thread_id",
)

pytestmark = pytest.mark.long
COLUMNS = ", ".join(f"{name} {'int' if name == 'target_threads' else 'string'}" for name in FIELDS)
# What the suite does with `vacuum`, in Iceberg's terms.
MAINTENANCE = {
    "sql": "call {{ target.database }}.system.rewrite_manifests('{{ this.schema }}.on_model_hook')",
    "transaction": False,
}


def recorded(project: Any, table: str, state: str) -> list[dict[str, Any]]:
    """Return what the hooks of one state have written."""
    query = f"select {', '.join(FIELDS)} from {project.test_schema}.{table} where test_state = '{state}'"
    return [dict(zip(FIELDS, row, strict=True)) for row in project.run_sql(query, fetch="all")]


def assert_context(context: dict[str, Any], schema: str) -> None:
    """A hook has seen the target and the run; what this profile does not have is empty."""
    expected = {"name": "default", "schema": schema, "type": "icebergmv", "threads": 4, "pass": ""}
    assert {key: context[f"target_{key}"] for key in expected} == expected
    assert context["run_started_at"]
    assert context["invocation_id"]


class OnModelHookTable:
    """The table that the hooks of models write to."""

    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project: Any) -> None:
        project.run_sql(f"create table {project.test_schema}.on_model_hook ({COLUMNS})")

    def check_hooks(self, state: str, project: Any, host: str | None, count: int = 1) -> None:
        contexts = recorded(project, "on_model_hook", state)
        assert len(contexts) == count
        for context in contexts:
            assert_context(context, project.test_schema)
            assert context["thread_id"].startswith("Thread-")


class HooksOfTheProject(OnModelHookTable):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        hooks = {"pre-hook": [MODEL_PRE_HOOK, MAINTENANCE], "post-hook": [MAINTENANCE, MODEL_POST_HOOK]}
        return {"models": {"test": hooks}}


class TestPrePostModelHooks(HooksOfTheProject, BasePrePostModelHooks):
    pass


class TestPrePostModelHooksUnderscores(OnModelHookTable, BasePrePostModelHooks):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        hooks = {"pre_hook": [MODEL_PRE_HOOK, MAINTENANCE], "post_hook": [MAINTENANCE, MODEL_POST_HOOK]}
        return {"models": {"test": hooks}}


class TestHookRefs(OnModelHookTable, BaseHookRefs):
    pass


class TestPrePostModelHooksInConfig(OnModelHookTable, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(HooksOfTheProject, BasePrePostModelHooksInConfigWithCount):
    pass


class TestPrePostModelHooksInConfigKwargs(OnModelHookTable, BasePrePostModelHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        hooks = [
            "alter table {{ this }} add column new_col int",
            "update {{ this }} set new_col = 1",
            # A macro, so that dbt records what the hook depends on.
            "select cast(null as {{ dbt.type_int() }}) as id",
        ]
        return {"seed-paths": ["seeds"], "models": {}, "seeds": {"post-hook": hooks, "quote_columns": False}}


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestPrePostRunHooks(BasePrePostRunHooks):
    @pytest.fixture(scope="function")
    def setUp(self, project: Any) -> None:
        for table in ("on_run_hook", "schemas", "db_schemas"):
            project.run_sql(f"drop table if exists {project.test_schema}.{table}")
        project.run_sql(f"create table {project.test_schema}.on_run_hook ({COLUMNS})")
        os.environ["TERM_TEST"] = "TESTING"

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {"hook.sql": fixtures.macros__hook, "before-and-after.sql": fixtures.macros__before_and_after}

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        start, end = (
            [
                f"{{{{ custom_run_hook('{state}', target, run_started_at, invocation_id) }}}}",
                # A drop before its create is an error, so these also test the order.
                f"create table {{{{ target.schema }}}}.{state}_hook_order_test (id int)",
                f"drop table {{{{ target.schema }}}}.{state}_hook_order_test",
            ]
            for state in ("start", "end")
        )
        schemas = [
            "create table {{ target.schema }}.schemas (schema string)",
            "insert into {{ target.schema }}.schemas values"
            " {% for schema in schemas %}('{{ schema }}'){{ ',' if not loop.last }}{% endfor %}",
            "create table {{ target.schema }}.db_schemas (db string, schema string)",
            "insert into {{ target.schema }}.db_schemas values"
            " {% for db, schema in database_schemas %}('{{ db }}', '{{ schema }}'){{ ',' if not loop.last }}{% endfor %}",
        ]
        return {
            "on-run-start": [*start, "{{ log(env_var('TERM_TEST'), info=True) }}"],
            "on-run-end": [*end, *schemas],
            "seeds": {"quote_columns": False},
        }

    def check_hooks(self, state: str, project: Any, host: str | None) -> None:
        (context,) = recorded(project, "on_run_hook", state)
        assert_context(context, project.test_schema)
        assert context["thread_id"].startswith("Thread-") or context["thread_id"] == "MainThread"


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
