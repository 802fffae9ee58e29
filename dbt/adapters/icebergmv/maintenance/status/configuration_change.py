"""What a run does with a view whose model was changed: `on_configuration_change` decides."""

from __future__ import annotations

from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ConfigurationChanges
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView

OnChange: TypeAlias = Literal["apply", "continue", "fail"]
Decision: TypeAlias = Literal["go on", "leave", "refuse"]

MEND = "Set it to apply, or run with --full-refresh."


def decided(view: Inspection, on_change: OnChange) -> Decision:
    """Return whether a run refreshes a view, leaves it as it is, or is an error.

    Nothing is decided where nothing changed, and where the run builds the view anyway. A view whose rows are lost has
    none that could be left: `continue` builds it.
    """
    if on_change == "apply" or not view.changes or view.request.rebuild_reason is not None:
        return "go on"
    if on_change == "fail":
        return "refuse"
    return "go on" if isinstance(view, LostView) and view.is_unreadable else "leave"


def why_left(changes: ConfigurationChanges) -> str:
    """Return the reason of a run that leaves a view as it is."""
    return f"on_configuration_change is continue, and {_what_changed(changes)}"


def why_refused(changes: ConfigurationChanges) -> str:
    """Return the cause and the mend of an error."""
    return f"on_configuration_change is fail, and {_what_changed(changes)}. {MEND}"


def _what_changed(changes: ConfigurationChanges) -> str:
    """Return in words what a model asks for that its view was not built with."""
    return ", ".join((*changes.rebuild, *changes.alter))
