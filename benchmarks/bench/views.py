"""The views that are measured: one SELECT for every contender, over facts in place of `{facts}`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.parts.tables import CUSTOMERS, FACTS, PRODUCTS


@dataclass(frozen=True)
class View:
    """A SELECT, its columns, and the columns of which no two rows have the same values; none in a single row.

    Views that output `day` are partitioned by it, whoever writes them.
    """

    name: str
    title: str
    select: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def has_days(self) -> bool:
        """Whether an output column is the one by which the facts are partitioned."""
        return "day" in self.columns

    @property
    def reads_customers(self) -> bool:
        """Whether the small table is read that is loaded again."""
        return CUSTOMERS in self.select

    def over(self, facts: str = FACTS) -> str:
        """Return the SELECT over a table of facts."""
        return self.select.format(facts=facts)


_FACT = ("id", "day", "customer", "amount")
VIEWS = {
    view.name: view
    for view in (
        View("filter", "filter", "select id, day, customer, amount from {facts} where amount >= 50", _FACT, ("id",)),
        View(
            "by_day",
            "aggregate over the partition key",
            "select day, count(*) as n, sum(amount) as total from {facts} group by day",
            ("day", "n", "total"),
            ("day",),
        ),
        View(
            "by_customer",
            "aggregate over another key",
            "select customer, count(*) as n, sum(amount) as total from {facts} group by customer",
            ("customer", "n", "total"),
            ("customer",),
        ),
        View(
            "inner_join",
            "inner join",
            "select f.id, f.day, f.customer, f.amount, c.country from {facts} f"
            f" join {CUSTOMERS} c on f.customer = c.id",
            (*_FACT, "country"),
            ("id",),
        ),
        View(
            "left_join",
            "left join",
            "select f.id, f.day, f.customer, f.amount, c.country from {facts} f"
            f" left join {CUSTOMERS} c on f.customer = c.id",
            (*_FACT, "country"),
            ("id",),
        ),
        View(
            "star",
            "aggregate over a star join",
            "select f.day, c.country, p.category, count(*) as n, sum(f.amount) as total from {facts} f"
            f" join {CUSTOMERS} c on f.customer = c.id join {PRODUCTS} p on f.product = p.id"
            " group by f.day, c.country, p.category",
            ("day", "country", "category", "n", "total"),
            ("day", "country", "category"),
        ),
        View(
            "window_by_day",
            "window over the partition key",
            "select id, day, amount, sum(amount) over (partition by day order by id) as running from {facts}",
            ("id", "day", "amount", "running"),
            ("id",),
        ),
        View(
            "window_by_customer",
            "window over another key",
            "select id, day, customer, amount, sum(amount) over (partition by customer order by id) as running"
            " from {facts}",
            (*_FACT, "running"),
            ("id",),
        ),
        View(
            "distinct",
            "distinct",
            "select distinct day, customer from {facts}",
            ("day", "customer"),
            ("day", "customer"),
        ),
        View(
            "total",
            "one total",
            "select count(*) as n, sum(amount) as total, avg(amount) as mean from {facts}",
            ("n", "total", "mean"),
            (),
        ),
    )
}
