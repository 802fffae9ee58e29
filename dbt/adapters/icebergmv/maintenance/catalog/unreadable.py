"""A catalog that could not be opened, for those who show what is wrong with it beside what is right with others."""

from __future__ import annotations

from typing import NoReturn

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable


class UnreadableCatalog:
    """A reader that raises CatalogUnavailable whatever it is asked.

    `problem` says what cannot be done, why, and how to mend it.
    """

    def __init__(self, name: str, problem: str) -> None:
        self._name = name
        self._problem = problem

    @property
    def name(self) -> str:
        """Return the name of the catalog in Spark."""
        return self._name

    @property
    def has_views(self) -> bool:
        """Raise CatalogUnavailable: nobody knows."""
        self._fail()

    @property
    def shows_all_views(self) -> bool:
        """Raise CatalogUnavailable: nobody knows."""
        self._fail()

    def _fail(self, *_: object, **__: object) -> NoReturn:
        raise CatalogUnavailable(self._problem)

    namespaces = entries = view = table = _fail
