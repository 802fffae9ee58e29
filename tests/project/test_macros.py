"""Rules for the macros of the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

MACROS = Path(__file__).parents[2] / "dbt" / "include" / "icebergmv" / "macros"
_COMMENT = re.compile(r"\{#.*?#}", re.DOTALL)
_DEFINITION = re.compile(r"\{%-?\s*macro\s+\w+")
_IMPLEMENTATION = re.compile(r"\bicebergmv__\w+")


def implementations_named(text: str) -> list[str]:
    """Return the names `icebergmv__...` that a macro file uses, beside those that it defines."""
    return _IMPLEMENTATION.findall(_DEFINITION.sub("", _COMMENT.sub("", text)))


def test_the_rule_finds_a_call() -> None:
    text = "{# icebergmv__a() #}{% macro icebergmv__b() -%}{{ icebergmv__c() }}{% endmacro %}"
    assert implementations_named(text) == ["icebergmv__c"]


@pytest.mark.parametrize("file", sorted(MACROS.rglob("*.sql")), ids=lambda file: file.stem)
def test_implementations_are_called_through_dispatch(file: Path) -> None:
    # Named directly, the override of a project or a package would not be seen.
    assert implementations_named(file.read_text()) == []
