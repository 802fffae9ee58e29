"""Spark SQL of the engine on DuckDB: the few words that differ are translated, the rest runs as it is."""

from __future__ import annotations

import re
from collections.abc import Callable

_ESCAPES = re.compile(r"\\(u([0-9a-f]{4})|.)", re.DOTALL)
# One pass over the text, so that nothing inside a string or a quoted name is taken for a word outside.
_TOKENS = re.compile(
    r"(?P<ntz>TIMESTAMP_NTZ (?='))|(?P<utc>TIMESTAMP (?=')(?='[^']*Z'))"
    r"|(?P<binary>X'(?P<hex>[0-9a-f]*)')"
    r"|(?P<text>'(?:[^'\\]|\\.)*')"
    r"|(?P<name>`(?:[^`]|``)*`)"
    r"|(?P<null_safe><=>)"
    r"|(?P<number>\b(?P<digits>[0-9][0-9.]*(?:e[-+]?[0-9]+)?)(?P<suffix>BD|L|D|F)\b)"
    r"|(?P<isnan>\bisnan\((?P<inner>`(?:[^`]|``)*`)\))"
    r"|(?P<call>\b(?P<cast>float|double)\((?P<argument>'[^']*')\))",
    re.DOTALL,
)
_SUFFIXES = {"BD": "", "L": "::BIGINT", "D": "::DOUBLE", "F": "::FLOAT"}


def to_duckdb(sql: str) -> str:
    """Return Spark SQL as rendered by the engine in DuckDB's words."""
    return _TOKENS.sub(_translate, sql)


def _translate(found: re.Match[str]) -> str:
    kinds: dict[str, Callable[[], str]] = {
        "ntz": lambda: "TIMESTAMP ",
        "utc": lambda: "TIMESTAMPTZ ",
        "binary": lambda: f"unhex('{found['hex']}')",
        "text": lambda: "'" + unescaped(found["text"][1:-1]).replace("'", "''") + "'",
        "name": lambda: _name(found["name"]),
        "null_safe": lambda: "IS NOT DISTINCT FROM",
        "number": lambda: found["digits"] + _SUFFIXES[found["suffix"]],
        # isnan(NULL) is false in Spark and NULL in DuckDB.
        "isnan": lambda: f"coalesce(isnan({_name(found['inner'])}), false)",
        "call": lambda: f"CAST({found['argument']} AS {found['cast']})",
    }
    return kinds[str(found.lastgroup if found.lastgroup in kinds else _group(found, kinds))]()


def _group(found: re.Match[str], kinds: dict[str, Callable[[], str]]) -> str:
    return next(k for k in kinds if found[k] is not None)


def _name(quoted: str) -> str:
    return '"' + quoted[1:-1].replace("``", "`").replace('"', '""') + '"'


def unescaped(text: str) -> str:
    """Return what Spark reads between the quotes of a string literal."""
    return _ESCAPES.sub(lambda m: chr(int(m[2], 16)) if m[2] else {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)
