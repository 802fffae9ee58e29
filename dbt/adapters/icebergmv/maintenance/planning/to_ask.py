"""Which references are asked what their changed rows reach."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ToAsk:
    """The references whose changed rows should say what they reach.

    Without an answer about each of the `needed` ones the refresh is full. Of the `narrower` ones it is known roughly
    what they may reach, and an answer can only be less. Those in `own_keys` only got rows, of which it is known between
    which bounds they are; no more is read for their keys than these rows. `only_whether`: if anything is reached,
    groups are merged, whichever they are.
    """

    needed: tuple[int, ...] = ()
    narrower: tuple[int, ...] = ()
    own_keys: tuple[int, ...] = ()
    only_whether: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether no reference should."""
        return not (self.needed or self.narrower or self.own_keys)
