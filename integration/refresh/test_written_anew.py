"""A small storage table without partitions is written anew: rows that are not replaced are written again as they are."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, built
from integration.support.lake import LakeProject
from integration.support.said import recorded

HEAD = "{{{{ config(partition_by=[]) }}}} "
AGGREGATES = "median(amount) as m, count(distinct note) as notes"
VIEWS = {
    "by_customer": f"{HEAD} select customer, {AGGREGATES} from {{facts}} group by customer",
    "by_note": f"{HEAD} select note, median(amount) as m, max(at) as last from {{facts}} group by note",
    "by_two": f"{HEAD} select customer, note, {AGGREGATES} from {{facts}} group by customer, note",
    # What changed is known by partitions, whose values are floats, decimals and moments.
    "by_float": f"{HEAD} select ratio, {AGGREGATES} from {{of_ratios}} group by ratio",
    "by_size": f"{HEAD} select size, {AGGREGATES} from {{of_sizes}} group by size",
    "by_moment": f"{HEAD} select at, {AGGREGATES} from {{of_days}} group by at",
    "nested": f"{HEAD} select customer, named_struct('n', max(note), 'Ids', sort_array(array_agg(id))) as both,"
    " map_from_arrays(array(1), array(max(ratio))) as most from {of_customers} group by customer",
}
CONTENT = (
    "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id AS int) AS id,"
    " cast(if(id % 60 = 59, null, id % 60) AS int) AS customer,"
    " element_at(array('', 'it\\'s', '$x\\\\', 'é', 'n', cast(null as string)), cast(id % 6 + 1 AS int)) AS note,"
    " cast(id % 11 AS int) AS amount, timestamp_millis(if(id % 7 = 0, null, id % 50 * 10000003)) AS at,"
    " element_at(array(0.0D, -0.0D, double('NaN'), double('Infinity'), 1.5D, cast(null as double)),"
    " cast(id % 6 + 1 AS int)) AS ratio, cast(id % 5 - 2 AS decimal(20,3)) AS size FROM range(3000)"
)
TABLES = {
    "facts": CONTENT,
    "of_ratios": f"PARTITIONED BY (ratio) {CONTENT}",
    "of_sizes": f"PARTITIONED BY (size) {CONTENT}",
    "of_days": f"PARTITIONED BY (days(at)) {CONTENT}",
    "of_customers": f"PARTITIONED BY (customer) {CONTENT}",
}
OF_KEYS, OF_PARTITIONS = ["by_customer", "by_note", "by_two"], ["by_float", "by_size", "by_moment"]
ROUNDS: dict[str, Change] = {
    "some of each": (
        [
            "UPDATE {facts} SET amount = amount + 1 WHERE customer IN (3, 17) OR (customer IS NULL AND id < 300)",
            "UPDATE {of_ratios} SET amount = amount + 1 WHERE isnan(ratio) AND id < 90",
            "UPDATE {of_sizes} SET amount = amount + 1 WHERE size = -2",
            "UPDATE {of_days} SET amount = amount + 1 WHERE at IS NULL AND id < 99",
        ],
        dict.fromkeys(["by_customer", "by_two", *OF_PARTITIONS], "overwrite"),
    ),
    "zeros, NULL, and rows that move": (
        [
            "UPDATE {facts} SET note = 'n' WHERE note IS NULL AND id < 600",
            "UPDATE {of_ratios} SET amount = amount + 1 WHERE ratio = 0 AND id < 60 OR ratio IS NULL AND id < 90",
            "UPDATE {of_sizes} SET size = null WHERE size = 1 AND id < 1000",
            "UPDATE {of_days} SET at = timestamp'2024-03-01 00:00:00' WHERE at < timestamp'1970-01-02 00:00:00'",
        ],
        dict.fromkeys([*OF_KEYS, *OF_PARTITIONS], "overwrite"),
    ),
    "groups that go and come": (
        [
            "DELETE FROM {facts} WHERE customer = 5 OR note = 'é' AND id < 1000",
            "INSERT INTO {facts} SELECT id + 9000, 5000, 'neu', 3, at, null, 9.125BD FROM {facts} WHERE id < 9",
            "DELETE FROM {of_ratios} WHERE ratio = double('Infinity')",
            "INSERT INTO {of_sizes} VALUES (1, 1, '', 1, null, 1D, -7.125BD)",
            "DELETE FROM {of_days} WHERE at IS NULL",
            "DELETE FROM {of_customers} WHERE customer = 9",
            "INSERT INTO {of_customers} VALUES (1, null, null, 1, null, -0.0D, null)",
        ],
        dict.fromkeys([*OF_KEYS, *OF_PARTITIONS], "overwrite"),
    ),
    "all of them go": (["DELETE FROM {facts} WHERE true", "DELETE FROM {of_ratios} WHERE true"], {}),
}


def test_rows_are_written_again_beside_others(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = built(lake, "anew_", TABLES, VIEWS, [*VIEWS])
    said = recorded(monkeypatch)
    for change in ROUNDS.values():
        assert_follows(lake, tables, change, [*VIEWS])
    statements = [one.sql.partition("*/")[2].strip() for one in said if "__mv_storage__" in one.sql]
    assert not any(statement.startswith("DELETE") for statement in statements)
    for name in (*OF_KEYS, *OF_PARTITIONS):
        inserts = [s for s in statements if s.startswith("INSERT") and f"__mv_storage__{name}`" in s]
        beside = [s for s in inserts if ") IS NOT TRUE\nUNION ALL\n" in s]
        assert len(beside) >= 2, name
        (files,) = lake.sql(f"SELECT count(*) AS n FROM lake.{lake.schema}.__mv_storage__{name}.files")
        assert files.n <= 4


def test_a_change_that_moves_no_row_writes_none(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of rows that HAVING leaves out are those of no stored row: nothing is to be written anew for them."""
    facts = "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT id, id % 60 AS k, 1 AS v FROM range(600)"
    views = {"rare": "select k, median(v) as m, count(distinct id) as n from {facts} group by k having median(v) < 9"}
    tables = built(lake, "rare_", {"facts": facts}, views, ["rare"])
    change = ["UPDATE {facts} SET v = 10 WHERE k IN (3, 4)"]
    gone = assert_follows(lake, tables, (change, {"rare": "overwrite"}), ["rare"])["rare"]
    assert (gone["rows_affected"], gone["rows_deleted"]) == (0, 2)
    said = recorded(monkeypatch)
    change = ["UPDATE {facts} SET v = 11 WHERE k IN (3, 4)"]
    still = assert_follows(lake, tables, (change, {"rare": "overwrite"}), ["rare"])["rare"]
    assert (still["rows_affected"], still["rows_deleted"], still["bytes_written"]) == (0, 0, 0)
    assert not any("REPLACE WHERE" in one.sql or "DELETE FROM" in one.sql for one in said)


def test_many_keys_in_one_text(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The predicate of more values than an IN takes is a subquery, here below IS NOT TRUE."""
    facts = (
        "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id AS int) AS id,"
        " if(id % 9000 = 3, null, concat('it\\'s,;', id % 9000)) AS name, cast(id % 7 AS int) AS v FROM range(27000)"
    )
    views = {"names": "select name, median(v) as m from {facts} group by name"}
    tables = built(lake, "texts_", {"facts": facts}, views, ["names"])
    said = recorded(monkeypatch)
    change = ["UPDATE {facts} SET v = v + 1 WHERE id % 9000 % 7 = 3"]
    found = assert_follows(lake, tables, (change, {"names": "overwrite"}), ["names"])
    assert (found["names"]["rows_affected"], found["names"]["rows_deleted"]) == (1286, 1286)
    (insert,) = (one.sql for one in said if "INSERT INTO" in one.sql)
    assert insert.count("explode(split(text, ") == 3
