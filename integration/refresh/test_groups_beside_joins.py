"""Values of groups that depend on the order of rows, joined to what they are about: refreshed by their key."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject

_KINDS = "(select o_id, concat_ws(', ', collect_list(kind)) as kinds, count(*) as n from {lines} group by o_id)"
VIEWS = {
    "listed": f"with g as {_KINDS} select o.id, o.customer, g.kinds from {{orders}} o left join g on o.id = g.o_id",
    "first_of_each": "select o.id, o.customer, g.kind, g.n from {orders} o join (select o_id, first(kind) as kind, "
    "count(*) as n from {lines} group by o_id) g on g.o_id = o.id",
    "sorted": "with g as (select o_id, concat_ws(', ', sort_array(collect_set(kind))) as kinds from {lines} "
    "group by o_id) select o.customer, g.kinds, count(*) as n from {orders} o join g on o.id = g.o_id group by 1, 2",
}
ROUNDS = {
    "a line comes": "insert into {lines} values (7, 'k9')",
    "lines of an order go": "delete from {lines} where o_id = 8",
    "an order is another customer's": "update {orders} set customer = 99 where id = 9",
    "a line moves": "update {lines} set o_id = 12 where o_id = 11 and kind = 'k4'",
    "an order without lines": "insert into {orders} values (1000, 5), (null, 6)",
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.beside_{name}" for name in ("orders", "lines")}
    lake.sql(
        f"create table {names['orders']} using iceberg as select int(id) as id, int(id % 40) as customer from range(80)"
    )
    lake.sql(
        f"create table {names['lines']} using iceberg as select int(id % 80) as o_id, concat('k', id % 7) as kind "
        "from range(400)"
    )
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), refresh_policy="incremental")
    lake.run("--select", *VIEWS)
    return names


@pytest.mark.parametrize("change", in_turn(ROUNDS, 2))
def test_in_part(change: str, lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql(ROUNDS[change].format(**tables))
    found = lake.run("--select", *VIEWS)
    kinds = {name: response["refresh_kind"] for name, response in found.items()}
    assert set(kinds.values()) <= {"overwrite", "merge", "none"}, {n: r["_message"] for n, r in found.items()}
    assert kinds["listed"] == "overwrite"
    lake.assert_equals_definition("sorted")
    in_order = "select id, customer, sort_array(split(kinds, ', ')) as kinds from"
    wanted = lake.sql(f"{in_order} ({VIEWS['listed'].format(**tables)})")
    assert sorted(map(repr, lake.sql(f"{in_order} {lake.view('listed')}"))) == sorted(map(repr, wanted))
    numbers = "select id, customer, n from"
    wanted = lake.sql(f"{numbers} ({VIEWS['first_of_each'].format(**tables)})")
    assert sorted(map(repr, lake.sql(f"{numbers} {lake.view('first_of_each')}"))) == sorted(map(repr, wanted))
