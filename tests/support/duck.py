"""Spark SQL of the engine on DuckDB: the few words that differ are translated, the rest runs as it is."""

from __future__ import annotations

import re
from collections.abc import Callable

_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_ESCAPES = re.compile(r"\\(u([0-9a-f]{4})|.)", re.DOTALL)
_OPTIONS = r" WITH \((?:(?:, )?`(?:snapshot-property\.[^`]*|distribution-mode)` = '(?:[^'\\]|\\.)*')*\)"
_REPLACE = re.compile(
    rf"INSERT INTO (?P<target>\S+){_OPTIONS} REPLACE WHERE "
    r"(?P<where>(?:`[^`]*`|'(?:[^'\\]|\\.)*'|[^`'])*?) (?P<rows>SELECT .*)",
    re.DOTALL,
)
# One pass over the text, so that nothing inside a string or a quoted name is taken for a word outside.
_COLUMN = r"(?:`(?:[^`]|``)*`\.)?`(?:[^`]|``)*`"
_TOKENS = re.compile(
    r"(?P<ntz>TIMESTAMP_NTZ (?='))|(?P<utc>TIMESTAMP (?=')(?='[^']*Z'))"
    r"|(?P<table>`lake`\.`ns`\.(?P<of>`(?:[^`]|``)*`)(?: VERSION AS OF (?P<version>\d+)|\.`branch_(?P<branch>\w+)`"
    r"| WITH \(`start-snapshot-id` = '(?P<since>\d+)', `end-snapshot-id` = '(?P<until>\d+)'\)))"
    rf"|(?P<options>{_OPTIONS})"
    r"|(?P<binary>X'(?P<hex>[0-9a-f]*)')"
    r"|(?P<text>'(?:[^'\\]|\\.)*')"
    r"|(?P<transform>`lake`\.system\.(?P<function>bucket|truncate)\((?P<width>\d+), "
    rf"(?P<over>{_COLUMN}|coalesce\({_COLUMN}, {_COLUMN}\))\))"
    r"|(?P<name>`(?:[^`]|``)*`)"
    r"|(?P<null_safe><=>)"
    r"|(?P<number>\b(?P<digits>[0-9][0-9.]*(?:e[-+]?[0-9]+)?)(?P<suffix>BD|L|D|F)\b)"
    r"|(?P<row>\bstruct\((?=[^;]*? AS key_0\b))"
    r"|(?P<field> AS key_\d+(?=[,)]))"
    rf"|(?P<isnan>\bisnan\((?P<inner>{_COLUMN}|coalesce\({_COLUMN}, {_COLUMN}\))\))"
    r"|(?P<call>\b(?P<cast>float|double)\((?P<argument>'[^']*')\))"
    # What a person writes in a definition.
    r"|(?P<side>\bLEFT (?=SEMI JOIN|ANTI JOIN))"
    r"|(?P<exclude>(?<=\* )EXCEPT(?= \())"
    r"|(?P<div>\bdiv\b)"
    r"|(?P<try_sum>\btry_sum(?=\())"
    r"|(?P<type>(?<= AS )(?P<spark_type>timestamp_ntz|timestamp_ltz|timestamp|string)(?=\)))"
    r"|(?P<trunc>\btrunc\((?P<date>(?:[^(),']|\([^()]*\))+), '(?P<unit>\w+)'\))"
    r"|(?P<truncated>\bdate_trunc\('(?P<period>\w+)', (?P<moment>(?:[^(),']|\([^()]*\))+)\))"
    r"|(?P<lateral>LATERAL VIEW explode\(array\((?P<items>[^()]*)\)\) (?P<alias>\w+) AS (?P<column>\w+))"
    # What the engine asks to evaluate keys.
    r"|(?P<micros>timestampdiff\(MICROSECOND, TIMESTAMP_NTZ '1970-01-01', (?=CAST\())"
    r"|(?P<range>\bFROM range\((?P<bounds>[-\d]+, [-\d]+)\))"
    r"|(?P<long_list>\bexplode\(split\(text, (?P<separator>'(?:[^'\\]|\\.)*')\)\))"
    r"|(?P<series>\bexplode\(sequence(?=\())"
    r"|(?P<explode>\bexplode\(array\((?P<elements>[^()]*)\)\))",
    re.DOTALL,
)
_TRANSFORMS = {"truncate": "substr({0}, 1, {1})", "bucket": "bucket({1}, {0})"}
"""DuckDB has no bucket(): who uses it defines a macro. truncate is asked for over strings alone."""

_TRUNC_UNITS = {"MM": "month", "MONTH": "month", "YEAR": "year", "QUARTER": "quarter", "WEEK": "week"}
_TYPES = {"timestamp": "TIMESTAMPTZ", "timestamp_ltz": "TIMESTAMPTZ", "timestamp_ntz": "TIMESTAMP", "string": "VARCHAR"}
_SUFFIXES = {"BD": "", "L": "::BIGINT", "D": "::DOUBLE", "F": "::FLOAT"}


_INLINED = "SELECT inline(array("
_STRUCT = "named_struct("


def to_duckdb(sql: str) -> str:
    """Return Spark SQL as rendered by the engine in DuckDB's words."""
    return _TOKENS.sub(_translate, _with_values(sql))


def _with_values(sql: str) -> str:
    """Return SQL with VALUES in place of arrays of structs that are made rows."""
    while (start := sql.find(_INLINED)) >= 0:
        structs, end = _arguments(sql, start + len(_INLINED))
        rows = [_arguments(struct, len(_STRUCT))[0] for struct in structs]
        names = ", ".join(f"`{name[1:-1]}`" for name in rows[0][::2])
        values = ", ".join(f"({', '.join(row[1::2])})" for row in rows)
        sql = f"{sql[:start]}SELECT * FROM (VALUES {values}) AS v({names}){sql[end + 2 :]}"
    return sql


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Return the arguments behind an opened parenthesis, and where it is closed."""
    found, begun, depth, place = [], start, 0, start
    while depth >= 0:
        text = _TEXT.match(sql, place)
        if text is not None:
            place = text.end()
            continue
        depth += {"(": 1, ")": -1}.get(sql[place], 0)
        if (sql[place] == "," and depth == 0) or depth < 0:
            found.append(sql[begun:place].strip())
            begun = place + 1
        place += 1
    return found, place - 1


def to_duckdb_statements(sql: str) -> list[str]:
    """Return what a statement does as statements of DuckDB, which has no REPLACE WHERE."""
    found = _REPLACE.fullmatch(sql)
    if found is None:
        return [to_duckdb(sql)]
    delete = f"DELETE FROM {found['target']} WHERE {found['where']}"
    return [to_duckdb(delete), to_duckdb(f"INSERT INTO {found['target']} {found['rows']}")]


def _table(found: re.Match[str]) -> str:
    """Return a snapshot, a window of appended rows or a branch of a table as a table in a schema of its own.

    So the table keeps its name, and columns can be qualified with it.
    """
    schema = found["version"] or found["branch"] or f"{found['since']}..{found['until']}"
    return f'"@{schema}".{_name(found["of"])}'


def _translate(found: re.Match[str]) -> str:
    kinds: dict[str, Callable[[], str]] = {
        "ntz": lambda: "TIMESTAMP ",
        "utc": lambda: "TIMESTAMPTZ ",
        "table": lambda: _table(found),
        "options": lambda: "",
        "binary": lambda: f"unhex('{found['hex']}')",
        "text": lambda: "'" + unescaped(found["text"][1:-1]).replace("'", "''") + "'",
        "name": lambda: _name(found["name"]),
        "null_safe": lambda: "IS NOT DISTINCT FROM",
        "number": lambda: found["digits"] + _SUFFIXES[found["suffix"]],
        # A list of rows; their fields need no names here.
        "row": lambda: "row(",
        "field": lambda: "",
        # isnan(NULL) is false in Spark and NULL in DuckDB.
        "isnan": lambda: f"coalesce(isnan({to_duckdb(found['inner'])}), false)",
        "call": lambda: f"CAST({found['argument']} AS {found['cast']})",
        "transform": lambda: _TRANSFORMS[found["function"]].format(to_duckdb(found["over"]), found["width"]),
        "side": lambda: "",
        "exclude": lambda: "EXCLUDE",
        "div": lambda: "//",
        # No sum of DuckDB's overflows here; a macro would take no FILTER.
        "try_sum": lambda: "sum",
        "type": lambda: _TYPES[found["spark_type"]],
        "trunc": lambda: f"CAST(date_trunc('{_TRUNC_UNITS[found['unit']]}', {found['date']}) AS DATE)",
        # Spark makes a timestamp of a date, DuckDB a timestamp_ntz.
        "truncated": lambda: f"date_trunc('{found['period']}', CAST({to_duckdb(found['moment'])} AS TIMESTAMPTZ))",
        "lateral": lambda: f"CROSS JOIN (SELECT unnest([{found['items']}]) AS {found['column']}) {found['alias']}",
        "micros": lambda: "epoch_us(",
        "range": lambda: f"FROM (SELECT range AS id FROM range({found['bounds']}))",
        "long_list": lambda: f"unnest(string_split(text, {to_duckdb(found['separator'])}))",
        "series": lambda: "unnest(generate_series",
        "explode": lambda: f"unnest([{found['elements']}])",
    }
    return kinds[str(found.lastgroup if found.lastgroup in kinds else _group(found, kinds))]()


def _group(found: re.Match[str], kinds: dict[str, Callable[[], str]]) -> str:
    return next(k for k in kinds if found[k] is not None)


def _name(quoted: str) -> str:
    return '"' + quoted[1:-1].replace("``", "`").replace('"', '""') + '"'


def unescaped(text: str) -> str:
    """Return what Spark reads between the quotes of a string literal."""
    return _ESCAPES.sub(lambda m: chr(int(m[2], 16)) if m[2] else {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)
