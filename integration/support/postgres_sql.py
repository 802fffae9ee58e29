"""dbt's suites prepare their tables in PostgreSQL's words; here they are those of Spark."""

from __future__ import annotations

import re
from typing import Any

import pytest

_WORDS = {
    r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d'": r"timestamp\g<0>",
    r"\bTEXT\b": "STRING",
    r"\s+WITHOUT TIME ZONE": "",
    r'"(\w+)"': r"`\1`",
    r"\bCREATE MATERIALIZED VIEW\b": "CREATE VIEW",
}
_DROP_SCHEMA = re.compile(r"drop schema if exists \S+ cascade", re.IGNORECASE)


def spark_statements(sql: str) -> list[str]:
    """Return the statements of a text, which has no semicolon but between them."""
    for theirs, ours in _WORDS.items():
        sql = re.sub(theirs, ours, sql, flags=re.IGNORECASE)
    return [statement for statement in sql.split(";") if statement.strip()]


class PreparedInPostgres:
    """A class of dbt's suites whose tables are prepared by SQL of PostgreSQL, several statements at once."""

    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        return prepared_in_postgres(project)


def prepared_in_postgres(project: Any) -> Any:
    """Return a project of dbt's suites that takes SQL of PostgreSQL."""
    run = project.run_sql

    def run_sql(sql: str, fetch: str | None = None) -> Any:
        if _DROP_SCHEMA.fullmatch(sql.strip()):
            return _empty_schema(project)
        answers = [run(statement, fetch) for statement in spark_statements(sql)]
        return answers[-1] if answers else None

    project.run_sql = run_sql
    project.get_tables_in_schema = lambda: _tables(project)
    return project


def _tables(project: Any) -> dict[str, str]:
    """Return the type of each relation of the tests, which PostgreSQL has in its information schema."""
    schema = project.adapter.Relation.create(database=project.database, schema=project.test_schema)
    found = project.adapter.list_relations_without_caching(schema)
    return {relation.identifier: str(relation.type) for relation in found}


def _empty_schema(project: Any) -> None:
    """Drop the schema of the tests with all that is in it, which Iceberg's own CASCADE does not."""
    with project.adapter.connection_named("_test"):
        schema = project.adapter.Relation.create(database=project.database, schema=project.test_schema)
        project.adapter.drop_schema(schema)
        project.adapter.create_schema(schema)
