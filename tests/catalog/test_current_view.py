"""Which of the metadata files that fit what Spark shows is the current one; and when that cannot be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, UnknownType
from pyiceberg.view.metadata import ViewHistoryEntry, ViewMetadata

from dbt.adapters.icebergmv.maintenance.catalog.over_spark.current_view import ShownView, current_view, fits, shown_sql
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from tests.support.lake_views import view_metadata

A, B = "select id from a", "select id from b"
SHOWN = ShownView(
    created=f"CREATE VIEW lake.ns.v (\n  id)\nTBLPROPERTIES (\n  'q' = '1')\nAS\n{A}\n",
    properties={"location": "nowhere/", "provider": "iceberg", "format-version": "1", "q": "1"},
    columns=(("id", "bigint", "the key"),),
    comment="c",
)
HIDDEN = {"comment": "c", "engine_version": "Spark 4", "spark.query-column-names": "id"}


def stored(sql: str = A, **properties: str) -> ViewMetadata:
    return view_metadata([sql], properties={**HIDDEN, "q": "1", **properties})


def view(log: Sequence[tuple[int, int]], uuid: str = "u", namespace: str = "ns", **changes: object) -> ViewMetadata:
    """Return a view whose odd versions are A and whose even ones are B, made current in the order of the log."""
    made = view_metadata([A if n % 2 else B for n in range(1, max(v for _, v in log) + 1)])
    versions = [
        v.model_copy(update={"default_namespace": (namespace,)}) if v.version_id == log[-1][1] else v
        for v in made.versions
    ]
    entries = [ViewHistoryEntry(timestamp_ms=at, version_id=version) for at, version in log]
    return made.model_copy(
        update={
            "view_uuid": uuid,
            "versions": versions,
            "version_log": entries,
            "current_version_id": log[-1][1],
            **changes,
        }
    )


def test_what_spark_shows_fits() -> None:
    assert fits(stored(), SHOWN)


@pytest.mark.parametrize(
    "other",
    [
        stored(B),
        stored(f"{A} "),
        stored(q="2"),
        stored(new="1"),
        stored(comment="d"),
        view_metadata([A], properties=HIDDEN),
        stored().model_copy(update={"location": "elsewhere"}),
        stored().model_copy(update={"schemas": [Schema(NestedField(1, "id", LongType(), doc="another"), schema_id=0)]}),
        stored().model_copy(update={"schemas": [Schema(NestedField(1, "ID", LongType(), doc="the key"), schema_id=0)]}),
        stored().model_copy(
            update={"schemas": [Schema(NestedField(1, "id", UnknownType(), doc="the key"), schema_id=0)]}
        ),
    ],
)
def test_anything_else_does_not_fit(other: ViewMetadata) -> None:
    assert not fits(other, SHOWN)


def with_properties(properties: Mapping[str, str]) -> ShownView:
    return replace(SHOWN, properties={**SHOWN.properties, **properties})


def test_a_value_that_spark_hides_fits_any() -> None:
    shown = with_properties({"token": "*********(redacted)"})
    assert fits(stored(token="x"), shown)
    assert not fits(stored(), shown)


def test_a_column_of_nulls_is_void_in_spark() -> None:
    nulls = stored().model_copy(update={"schemas": [Schema(NestedField(1, "id", UnknownType()), schema_id=0)]})
    assert fits(nulls, replace(SHOWN, columns=(("id", "void", ""),)))


def test_of_several_dialects_spark_shows_its_own_else_the_first() -> None:
    assert shown_sql(view_metadata([A], dialect="trino")) == A


def test_one_that_fits_is_current() -> None:
    only = view([(1, 1)])
    assert current_view([only]) is only
    assert current_view([]) is None


def test_a_version_taken_up_again_is_the_later_one() -> None:
    """A, B, A again: the file of the first A fits as well, and knows nothing of B."""
    first, again = view([(1, 1)]), view([(1, 1), (2, 2), (3, 1)])
    assert current_view([first, again]) is again
    assert current_view([again, first]) is again


def test_a_log_that_has_lost_its_beginning_is_later() -> None:
    first, again = view([(1, 1)]), view([(2, 2), (3, 3)])
    assert current_view([first, again]) is again


def test_one_step_may_be_of_a_commit_that_failed() -> None:
    """Another default namespace is a new version, and nothing that is shown."""
    before, after = view([(1, 1)]), view([(1, 1), (2, 3)], namespace="other")
    assert current_view([before, after]) is None
    assert current_view([after, before]) is None
    proven = view([(1, 1), (2, 3), (3, 4), (4, 5)])
    assert current_view([before, after, proven]) is proven


def test_attempts_at_the_same_are_the_same() -> None:
    """Each attempt has a time of its own, in the log and in its version."""
    one, other = view([(1, 1)]), view([(2, 1)])
    (version,) = other.versions
    other.versions[0] = version.model_copy(update={"timestamp_ms": version.timestamp_ms + 1})
    assert current_view([one, other]) is not None


def test_the_version_of_the_engine_makes_no_difference() -> None:
    one, other = view([(1, 1)], properties={"engine_version": "3"}), view([(1, 1)], properties={"engine_version": "4"})
    assert current_view([one, other]) is one


def test_a_view_made_after_the_end_of_another_is_current() -> None:
    old, new = view([(1, 1), (2, 2), (3, 3)], uuid="old"), view([(4, 1)], uuid="new")
    assert current_view([old, new]) is new


def test_two_views_made_at_once_are_told_apart_by_their_work() -> None:
    one, other = view([(10, 1)], uuid="one", namespace="x"), view([(20, 1)], uuid="other", namespace="y")
    assert current_view([one, other]) is None
    worked = view([(10, 1), (30, 2), (40, 3)], uuid="one")
    assert current_view([one, other, worked]) is worked
    much_later = view([(10_000_000, 1)], uuid="other", namespace="y")
    assert current_view([one, much_later]) is much_later


def test_a_select_at_the_end_of_another_is_not_taken_for_it() -> None:
    whole = view_metadata([f"with x\nAS\n{A}"])
    part = view_metadata([A])
    assert current_view([part, whole]) is whole


@pytest.mark.parametrize(
    ("settings", "has_views", "shows_all"),
    [
        # Of a REST server that does not announce its views, Spark lists none.
        ({"type": "rest"}, True, False),
        ({"catalog-impl": "org.apache.iceberg.rest.RESTCatalog"}, True, False),
        ({"catalog-impl": "com.acme.Catalog"}, True, False),
        ({"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog"}, True, True),
        ({"type": "hive"}, True, True),
        ({"type": "glue"}, False, False),
        ({"type": "Hadoop"}, False, False),
        ({"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, False, False),
    ],
)
def test_whether_a_catalog_of_spark_has_views(settings: dict[str, str], has_views: bool, shows_all: bool) -> None:
    def run(sql: str) -> list[tuple[str, str]]:
        key = sql.removeprefix("SET `spark.sql.catalog.lake.").rstrip("`")
        return [(key, settings.get(key, "<undefined>"))]

    reader = SparkReader("lake", run)
    assert (reader.has_views, reader.shows_all_views) == (has_views, shows_all)
