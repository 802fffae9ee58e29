"""What happens to a view is noted in the views that read it."""

from __future__ import annotations

from collections.abc import Sequence

from integration.randomised.subject import Subject


def above(subject: Subject, subjects: Sequence[Subject]) -> list[Subject]:
    """Return the views that read a view."""
    return [other for other in subjects if subject.name in other.reads.values()]


def note_above(subject: Subject, subjects: Sequence[Subject], how: str) -> None:
    """Note that a view may have been refreshed, by which plan is not known, or is read in another way."""
    for other in above(subject, subjects):
        other.changed.add("mv")
        other.broken.add(how)


def forget_texts_above(subject: Subject, subjects: Sequence[Subject]) -> None:
    """Note that upper views are not read as they are made: they see another behaviour from their next run on."""
    for other in above(subject, subjects):
        other.texts = {}


def leave_traces(subject: Subject, subjects: Sequence[Subject]) -> None:
    """Note that something happened to what a view above this one watches."""
    for other in above(subject, subjects):
        other.altered = True
