"""Every error the engine raises, as one tree.

Each message is one or two sentences: what cannot be done and why, then how to mend it.
"""

from __future__ import annotations


class MaintenanceError(Exception):
    """Root of the tree: catch this to catch everything the engine reports to a person."""


class CatalogUnavailable(MaintenanceError):
    """The catalog, or a file it points to, cannot be read."""


class InvalidDefinition(MaintenanceError):
    """The SELECT of a materialized view cannot be materialized as written."""


class InvalidConfig(MaintenanceError):
    """A configuration value is not one the product knows."""


class StateUnreadable(MaintenanceError):
    """What is recorded with a materialized view cannot be used."""


class RefreshRefused(MaintenanceError):
    """The refresh policy forbids the only refresh that would be right."""


class RefreshConflict(MaintenanceError):
    """Another writer moved the storage table or the view during a refresh; nothing was published."""


class NotReadable(MaintenanceError):
    """The current rows of a materialized view cannot be told from here."""
