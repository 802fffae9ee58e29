"""Texts of a project reach Spark letter for letter: in macros, fixtures, descriptions and properties."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt

# Spark would substitute ${...} before it parses the statement.
TEXT = 'it\'s ${env:HOME} a \\ "${spark.app.name}" $'
MODEL = "{{ config(tblproperties={'note': var('note'), 'on': true}) }} select 1 as id"
UNIT_TEST = """
unit_tests:
  - name: lengths
    model: lengths
    given:
      - input: ref('people')
        rows: [{name: "they're"}, {name: "'"}, {name: null}]
    expect:
      rows: [{name: "they're", n: 7}, {name: "'", n: 1}, {name: null, n: null}]
"""


class TestStringLiteral:
    def test_dispatched_macros(self, project: Any) -> None:
        inline = """select {{ dbt.string_literal(dbt.escape_single_quotes("they're")) }} as t"""
        result = run_dbt(["show", "--inline", inline])
        assert result.results[0].agate_table[0]["t"] == "they're"


class TestUnitTestFixtures:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "people.sql": "select 'x' as name",
            "lengths.sql": "select name, length(name) as n from {{ ref('people') }}",
            "unit_tests.yml": UNIT_TEST,
        }

    def test_quotes_in_fixtures(self, project: Any) -> None:
        run_dbt(["run"])
        (result,) = run_dbt(["test"])
        assert result.status == "pass"


class TestDescriptionsAndProperties:
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        docs = {"+persist_docs": {"relation": True, "columns": True}}
        return {"vars": {"note": TEXT}, "models": docs, "seeds": docs}

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"a_seed.csv": "id\n1\n"}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, Any]:
        described = {
            "description": "{{ var('note') }}",
            "columns": [{"name": "id", "description": "{{ var('note') }}"}],
        }
        kinds = ("table", "view", "materialized_view")
        return {
            **{f"a_{kind}.sql": f"{{{{ config(materialized='{kind}') }}}} {MODEL}" for kind in kinds},
            "schema.yml": {
                "models": [{"name": f"a_{kind}", **described} for kind in kinds],
                "seeds": [{"name": "a_seed", **described}],
            },
        }

    def test_texts_arrive_as_written(self, project: Any) -> None:
        run_dbt(["build"])
        catalog = run_dbt(["docs", "generate"])
        for node in ("model.test.a_table", "model.test.a_view", "model.test.a_materialized_view", "seed.test.a_seed"):
            found = catalog.nodes[node]
            assert (node, found.metadata.comment) == (node, TEXT)
            assert (node, found.columns["id"].comment) == (node, TEXT)
        reader = project.adapter.catalog_reader_of(None)
        properties = (
            reader.table(project.test_schema, "a_table").properties,
            reader.view(project.test_schema, "a_view").properties,
            reader.table(project.test_schema, "__mv_storage__a_materialized_view").properties,
        )
        for found in properties:
            assert (found["note"], found["on"]) == (TEXT, "true")
