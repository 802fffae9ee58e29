"""Lists that are collected and sorted are refreshed in part, where equal values in them cannot be told apart."""

from __future__ import annotations

from integration.support.following import CUSTOMERS, assert_follows, built
from integration.support.lake import LakeProject

VIEWS = {
    "texts": "select customer, sort_array(collect_set(name)) as names, count(*) as n from {facts} group by customer",
    "numbers": "select customer, array_sort(collect_list(amount)) as amounts from {facts} group by customer",
    "by_country": "select c.country, sort_array(array_agg(f.day), false) as days,"
    " sort_array(collect_set(f.amount) filter (where f.amount > 2)) as dear"
    " from {facts} f join {customers} c on f.customer = c.id group by c.country",
    "floats": "select customer, sort_array(collect_set(ratio)) as ratios from {facts} group by customer",
    "nocase": "select customer, sort_array(collect_list(name collate UTF8_LCASE)) as names from {facts} group by customer",
}
FACTS = (
    "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id AS int) AS id,"
    " cast(if(id % 6 = 5, null, id % 6) AS int) AS customer, concat('n', id % 4) AS name, cast(id % 5 AS"
    " decimal(10,2)) AS amount, date_add(date'2024-01-01', cast(id % 9 AS int)) AS day, id / 7.0D AS ratio"
    " FROM range(60)"
)
ROUNDS = (
    (
        ["UPDATE {facts} SET name = 'it\\'s', amount = 3 WHERE customer = 2 AND id < 30"],
        {"texts": "overwrite", "numbers": "overwrite", "by_country": "overwrite", "floats": "none", "nocase": "full"},
    ),
    (
        [
            "DELETE FROM {facts} WHERE customer IS NULL AND name = 'n1'",
            "INSERT INTO {facts} VALUES (90, 7, null, null, date'2024-02-02', 1.0D)",
        ],
        {"texts": "overwrite", "numbers": "overwrite", "floats": "overwrite"},
    ),
    (["UPDATE {customers} SET country = 'DE' WHERE id = 2"], {"texts": "none", "by_country": "overwrite"}),
)


def test_sorted_lists_are_refreshed_in_part(lake: LakeProject) -> None:
    tables = built(lake, "lists_", {"facts": FACTS, "customers": CUSTOMERS}, VIEWS, [*VIEWS])
    for change in ROUNDS:
        found = assert_follows(lake, tables, change, [*VIEWS])
        # No number of theirs changed in the first round, and no table of theirs in the last.
        reasons = {
            "overwrite": "lists_facts: ",
            "none": ("no row of the view can be affected", "nothing changed"),
        }
        assert found["floats"]["refresh_reason"].startswith(reasons[found["floats"]["refresh_kind"]])


def test_a_view_with_a_sorted_list_is_stitched_from_the_first_build_on(lake: LakeProject) -> None:
    """Types are known only when Spark is asked, which is after what readers get is planned."""
    tables = built(lake, "stitched_lists_", {"facts": f"PARTITIONED BY (customer) {FACTS}"}, VIEWS, ["numbers"])
    reads = {"stale_read_behavior": "use_stitching", "definition_below_rows": 0}
    lake.model("stitched_texts", VIEWS["texts"].format(**tables), **reads)
    lake.model("stitched_floats", VIEWS["floats"].format(**tables), **reads)
    found = lake.behaviors("stitched_texts", "stitched_floats")
    assert found == {"stitched_texts": "use_stitching", "stitched_floats": "use_view_query"}
    lake.sql(f"UPDATE {tables['facts']} SET name = 'read' WHERE customer = 3")
    lake.assert_equals_definition("stitched_texts", "stitched_floats")


def test_a_sorted_list_may_be_incremental_by_a_strict_policy(lake: LakeProject) -> None:
    tables = built(lake, "strict_lists_", {"facts": FACTS}, VIEWS, ["numbers"])
    for name in ("texts", "floats"):
        sql = VIEWS[name].format(**tables).replace("select", "select distinct")
        lake.model(f"strict_{name}", sql, refresh_policy="incremental_strict")
    lake.run("--select", "strict_texts")
    assert_follows(lake, tables, (ROUNDS[0][0], {"strict_texts": "overwrite"}), ["strict_texts"])
    failure = lake.fail("--select", "strict_floats")
    assert "collect_set() depends on the order in which rows are read" in failure
