"""Do all date_trunc and trunc calls of a text name their unit by a literal that Spark knows?"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import deeper
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of

_DATE_UNITS = frozenset(["YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MM", "MON", "WEEK"])
_TIME_UNITS = _DATE_UNITS | frozenset(["DAY", "DD", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"])
"""Spark's documentation of trunc and date_trunc; other words make them return NULL."""


def units_are_literals(tokens: Sequence[Token]) -> bool:
    """Return whether every unit is a known literal; True where neither function is called."""
    for position, token in enumerate(tokens[:-1]):
        function = known_of(token.text)
        takes_unit = function.takes_date_unit or function.takes_time_unit
        if not takes_unit or tokens[position + 1].token_type != TokenType.L_PAREN:
            continue
        arguments = _arguments(tokens, position + 2)
        known = _TIME_UNITS if function.takes_time_unit else _DATE_UNITS
        unit = arguments[0 if function.takes_time_unit else -1] if len(arguments) == 2 else []
        if len(unit) != 1 or unit[0].token_type != TokenType.STRING or unit[0].text.upper() not in known:
            return False
    return True


def _arguments(tokens: Sequence[Token], start: int) -> list[list[Token]]:
    """Return the tokens of each argument of the call whose parenthesis was opened just before `start`."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[start:]:
        if token.token_type == TokenType.R_PAREN and depth == 0:
            break
        depth += deeper(token)
        if token.token_type == TokenType.COMMA and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments
