"""Few rows in many files are written anew: those that are not replaced are written again as they are."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, built
from integration.support.lake import LakeProject
from integration.support.said import recorded
from integration.support.storage_sizes import take_storage_for_scattered

AGGREGATES = "median(amount) as m, count(distinct note) as notes"
VIEWS = {
    "by_customer": f"select customer, {AGGREGATES} from {{facts}} group by customer",
    "by_note": "select note, median(amount) as m, max(at) as last from {facts} group by note",
    "by_two": f"select customer, note, {AGGREGATES} from {{facts}} group by customer, note",
    "by_moment": f"select at, {AGGREGATES} from {{facts}} group by at",
    "by_float": f"select ratio, {AGGREGATES} from {{facts}} group by ratio",
    "by_size": f"select size, {AGGREGATES} from {{facts}} group by size",
    "numbered": "select id, at, row_number() over (partition by customer order by id) as place from {facts}",
    "nested": "select customer, named_struct('n', max(note), 'Ids', sort_array(collect_set(id))) as both"
    " from {facts} group by customer",
}
FACTS = (
    "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id AS int) AS id,"
    " cast(if(id % 60 = 59, null, id % 60) AS int) AS customer,"
    " element_at(array('', 'it\\'s', '$x\\\\', 'é', 'n', cast(null as string)), cast(id % 6 + 1 AS int)) AS note,"
    " cast(id % 11 AS int) AS amount, timestamp_millis(if(id % 7 = 0, null, id % 50 * 1000003)) AS at,"
    " element_at(array(0.0D, -0.0D, double('NaN'), double('Infinity'), 1.5D, cast(null as double)),"
    " cast(id % 6 + 1 AS int)) AS ratio, cast(id % 5 - 2 AS decimal(20,3)) AS size FROM range(3000)"
)
ROUNDS: dict[str, Change] = {
    "some of each": (
        ["UPDATE {facts} SET amount = amount + 1 WHERE customer IN (3, 17) OR (customer IS NULL AND id < 300)"],
        {**dict.fromkeys(["by_customer", "by_two"], "overwrite"), "numbered": "none"},
    ),
    "floats": (
        ["UPDATE {facts} SET amount = amount + 7 WHERE isnan(ratio) AND id < 90 OR ratio = 0 AND id < 30"],
        dict.fromkeys(["by_customer", "by_note", "by_two"], "overwrite"),
    ),
    "groups that go and come": (
        [
            "DELETE FROM {facts} WHERE customer = 5 OR note = 'é' AND id < 1000 OR at IS NULL AND id < 500",
            "INSERT INTO {facts} SELECT id + 9000, 5000, 'neu', 3, at, null, 9.125BD FROM {facts} WHERE id < 9",
        ],
        dict.fromkeys(["by_customer", "by_note", "by_two"], "overwrite"),
    ),
    "nothing of them": (["DELETE FROM {facts} WHERE id < 0"], {}),
    "all of them go": (["DELETE FROM {facts} WHERE true"], {}),
}


@pytest.fixture(autouse=True)
def scattered(monkeypatch: pytest.MonkeyPatch) -> None:
    take_storage_for_scattered(monkeypatch)


@pytest.mark.long
def test_rows_are_written_again_beside_others(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = built(lake, "anew_", {"facts": FACTS}, VIEWS, [*VIEWS])
    said = recorded(monkeypatch)
    for change in ROUNDS.values():
        assert_follows(lake, tables, change, [*VIEWS])
    statements = [one.sql.partition("*/")[2].strip() for one in said if "__mv_storage__" in one.sql]
    assert not any(statement.startswith("DELETE") for statement in statements)
    beside = [statement for statement in statements if ") IS NOT TRUE\nUNION ALL\n" in statement]
    assert len(beside) > len(VIEWS)
    for name in VIEWS:
        (files,) = lake.sql(f"SELECT count(*) AS n FROM lake.{lake.schema}.__mv_storage__{name}.files")
        assert files.n <= 4


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
    assert found["names"]["rows_affected"] == 9000
    (insert,) = (one.sql for one in said if "INSERT INTO" in one.sql)
    assert insert.count("explode(split(text, ") == 3
