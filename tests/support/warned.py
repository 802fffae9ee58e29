"""What dbt warns of while a block runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbt_common.events.base_types import EventMsg
from dbt_common.events.event_manager_client import add_callback_to_manager, get_event_manager


@contextmanager
def warned() -> Iterator[list[str]]:
    """Give a list that has every warning of the block after it."""
    found: list[str] = []

    def note(event: EventMsg) -> None:
        if event.info.level == "warn":
            found.append(event.data.base_msg)

    add_callback_to_manager(note)
    try:
        yield found
    finally:
        get_event_manager().callbacks.remove(note)
