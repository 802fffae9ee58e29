"""A storage table gets no more partitions than its rows fill, and is refreshed as before."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import partitions_of
from integration.support.lake import LakeProject

DAYS = 400


@pytest.fixture(scope="module")
def orders(lake: LakeProject) -> str:
    """Return a table of 400 days, with one row of no day."""
    name = f"lake.{lake.schema}.many_days"
    lake.sql(f"CREATE TABLE {name} (day date, qty int) USING iceberg PARTITIONED BY (day)")
    days = f"SELECT date'2023-01-01' + cast(id % {DAYS} as int), cast(id as int) FROM range({2 * DAYS})"
    lake.sql(f"INSERT INTO {name} {days} UNION ALL SELECT NULL, 1")
    return name


def _layout(lake: LakeProject, name: str) -> tuple[int, int]:
    """Return the number of partitions and of data files that a view's rows are in."""
    snapshot = int(lake.state(name)["icebergmv.storage-snapshot-id"])
    table = lake.reader().table(lake.schema, f"__mv_storage__{name}")
    assert table is not None
    files = lake.sql(f"SELECT count(*) FROM lake.{lake.schema}.__mv_storage__{name}.files")
    return len(partitions_of(table, snapshot)), files[0][0]


@pytest.mark.long
def test_few_rows_are_not_partitioned_by_many_days(lake: LakeProject, orders: str) -> None:
    name = "few_a_day"
    lake.model(name, f"select day, sum(qty) as qty from {orders} group by day")
    built = lake.run("--select", name)[name]
    assert built["refresh_reason"] == "first build; not partitioned, as the rows are too few for `day`"
    assert (built["rows_affected"], built["partition_by"]) == (DAYS + 1, [])
    assert _layout(lake, name) == (1, 1)
    lake.assert_equals_definition(name)
    lake.sql(f"INSERT INTO {orders} VALUES (date'2023-02-01', 5), (NULL, 7), (date'2030-01-01', 1)")
    refreshed = lake.run("--select", name)[name]
    assert (refreshed["refresh_kind"], refreshed["rows_affected"]) == ("overwrite", 3)
    lake.assert_equals_definition(name)
    assert lake.run("--select", name)[name]["refresh_kind"] == "none"
    again = lake.run("--select", name, "--full-refresh")[name]
    assert (again["refresh_reason"], again["partition_by"]) == ("--full-refresh", [])
    assert _layout(lake, name) == (1, 1)
    lake.model(name, f"select day, sum(qty) as qty from {orders} group by day", partition_by="months(day)")
    assert lake.run("--select", name)[name]["partition_by"] == ["months(`day`)"]
    lake.assert_equals_definition(name)


@pytest.mark.long
def test_rows_that_fill_months(lake: LakeProject, orders: str) -> None:
    name = "some_a_day"
    lake.model(name, f"select day, qty, e from {orders} lateral view explode(sequence(1, 200)) as e")
    built = lake.run("--select", name)[name]
    assert built["partition_by"] == ["months(`day`)"]
    assert built["refresh_reason"] == "first build; partitioned by months(`day`), as the rows are too few for `day`"
    partitions, files = _layout(lake, name)
    assert partitions <= files <= 2 * partitions < 40
    lake.assert_equals_definition(name)
    lake.sql(f"UPDATE {orders} SET qty = qty + 1 WHERE day = date'2023-02-01'")
    refreshed = lake.run("--select", name)[name]
    assert (refreshed["refresh_kind"], refreshed["stale_partitions"]) == ("overwrite", 1)
    lake.assert_equals_definition(name)


@pytest.mark.long
def test_a_part_of_the_rows_says_nothing_of_all(lake: LakeProject, orders: str) -> None:
    name = "sampled_days"
    lake.model(name, f"select day, sum(qty) as qty from {orders} group by day")
    assert lake.run("--select", name, "--empty")[name]["partition_by"] == ["`day`"]


@pytest.mark.long
def test_files_of_few_rows_do_not_pile_up(lake: LakeProject) -> None:
    """Each refresh of an unpartitioned table adds a file, until all are written anew at once."""
    base, name = f"lake.{lake.schema}.trickle", "trickles"
    lake.sql(f"CREATE TABLE {base} (day date, qty int) USING iceberg PARTITIONED BY (day)")
    lake.sql(f"INSERT INTO {base} VALUES (date'2024-01-01', 1), (NULL, 2)")
    lake.model(name, f"select day, sum(qty) as qty from {base} group by day", partition_by=[])
    lake.run("--select", name)
    storage = f"lake.{lake.schema}.__mv_storage__{name}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dbt.adapters.icebergmv.maintenance.planning.write.MOST_FILES", 3)
        for day in range(2, 9):
            lake.sql(f"INSERT INTO {base} VALUES (date'2024-01-{day:02}', {day}), (NULL, {day})")
            assert lake.run("--select", name)[name]["refresh_kind"] == "overwrite"
            assert lake.sql(f"SELECT count(*) FROM {storage}.files")[0][0] <= 5
            lake.assert_equals_definition(name)
