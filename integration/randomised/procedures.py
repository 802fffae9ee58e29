"""What procedures and other ways of writing do to a base table, made from a random number generator."""

from __future__ import annotations

from random import Random

from integration.randomised.changes import INSERT, Known, Maker
from integration.randomised.history import Change
from integration.randomised.tables import COLUMN_LIST, make_row

_REGISTER = "CALL lake.system.register_table('{name}', '{metadata}')"


def _rows(random: Random, known: Known, most: int = 2) -> tuple[str, ...]:
    return tuple(make_row(random, known.key) for _ in range(random.randint(1, most)))


def _on_a_branch(random: Random, known: Known) -> tuple[str, tuple[str, ...]]:
    """Return the name of a new branch, and statements that make it and write to it; {rows} are the first rows."""
    name = f"line{random.randrange(10**9)}"
    deleted = f"DELETE FROM {{t}}.branch_{name} WHERE id IN ({random.randrange(8)}, {random.randrange(8)})"
    writes = [INSERT.replace("{t}", f"{{t}}.branch_{name}"), deleted]
    random.shuffle(writes)
    return name, (f"ALTER TABLE {{t}} CREATE BRANCH {name}", *writes[: random.randint(1, 2)])


def _fast_forward(random: Random, known: Known) -> Change:
    name, written = _on_a_branch(random, known)
    call = f"CALL lake.system.fast_forward('{{name}}', 'main', '{name}')"
    return Change("publish a branch", known.name, (*written, call), _rows(random, known))


def _go_to_branch(random: Random, known: Known) -> Change:
    name, written = _on_a_branch(random, known)
    beside = INSERT.replace("{rows}", make_row(random, known.key))
    call = f"CALL lake.system.set_current_snapshot(table => '{{name}}', ref => '{name}')"
    return Change("go to another line", known.name, (*written, beside, call), _rows(random, known))


def _cherry_pick(random: Random, known: Known) -> Change:
    name = f"line{random.randrange(10**9)}"
    statements = (
        f"ALTER TABLE {{t}} CREATE BRANCH {name}",
        INSERT.replace("{t}", f"{{t}}.branch_{name}"),
        INSERT.replace("{rows}", make_row(random, known.key)),
        f"CALL lake.system.cherrypick_snapshot('{{name}}', {{head:{name}}})",
    )
    return Change("cherry-pick", known.name, statements, _rows(random, known))


def _truncate(random: Random, known: Known) -> Change:
    again = _rows(random, known) if random.random() < 0.7 else ()
    return Change("truncate", known.name, ("TRUNCATE TABLE {t}", INSERT), again)


def _overwrite_where(random: Random, known: Known) -> Change:
    row = make_row(random, known.key)
    statement = f"INSERT INTO {{t}} REPLACE WHERE id < 3 SELECT * FROM VALUES {row} AS w({COLUMN_LIST}) WHERE id < 3"
    return Change("replace where", known.name, (statement,))


def _sort(random: Random, known: Known) -> Change:
    order = random.choice(["id DESC", f"zorder(id, {'v' if known.key.name == 'x' else 'k'})"])
    call = (
        f"CALL lake.system.rewrite_data_files(table => '{{name}}', strategy => 'sort', sort_order => '{order}', "
        "options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true'))"
    )
    return Change("sort", known.name, (call,), keeps_rows=True)


def _to_first_spec(_random: Random, known: Known) -> Change:
    call = (
        "CALL lake.system.rewrite_data_files(table => '{name}', "
        "options => map('rewrite-all', 'true', 'output-spec-id', '0'))"
    )
    return Change("compact into the first partitions", known.name, (call,), keeps_rows=True)


def _register_again(_random: Random, known: Known) -> Change:
    return Change("register again", known.name, ("DROP TABLE {t}", _REGISTER), keeps_rows=True)


def _register_older(random: Random, known: Known) -> Change:
    older = _REGISTER.replace("{metadata}", f"{{metadata:{random.randint(1, 4)}}}")
    statements = ("DROP TABLE {t}", older, INSERT) if random.random() < 0.5 else ("DROP TABLE {t}", older)
    rows = _rows(random, known) if len(statements) > 2 else ()
    return Change("register an older state", known.name, statements, rows, breaks="expired")


PROCEDURES: dict[str, tuple[Maker, int]] = {
    "publish a branch": (_fast_forward, 3),
    "go to another line": (_go_to_branch, 3),
    "cherry-pick": (_cherry_pick, 3),
    "truncate": (_truncate, 2),
    "replace where": (_overwrite_where, 3),
    "sort": (_sort, 2),
    "compact into the first partitions": (_to_first_spec, 2),
    "register again": (_register_again, 1),
    "register an older state": (_register_older, 2),
}
"""Kinds of change besides those of `changes.MAKERS`, and how often they happen."""
