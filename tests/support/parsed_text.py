"""How much text is parsed in all."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

from sqlglot.parser import Parser
from sqlglot.tokens import Token


def characters_parsed(work: Callable[[], object]) -> int:
    """Return the lengths of all texts together that some work parses, each as often as it does."""
    lengths: list[int] = []
    parse = Parser.parse

    def counted(self: Parser, raw_tokens: list[Token], sql: str) -> object:
        lengths.append(len(sql))
        return parse(self, raw_tokens, sql)

    with patch.object(Parser, "parse", counted):
        work()
    return sum(lengths)
