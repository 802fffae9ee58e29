"""Keeping secrets out of messages: which settings are secret, and hiding their values in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from dbt_common.exceptions import scrub_secrets

_SECRET_KEY = re.compile(r"secret|password|token|credential|access[.-]?key|private[.-]?key", re.IGNORECASE)
_LOGIN_IN_ADDRESS = re.compile(r"(//[^/@\s:]+:)[^/@\s]+@")
_LOGIN_IN_QUERY = re.compile(r"((?:password|token|secret)=)[^&\s\"']+", re.IGNORECASE)
HIDDEN = "*****"


def is_secret(key: str) -> bool:
    """Return whether the key of a setting sounds as if its value must not be shown."""
    return bool(_SECRET_KEY.search(key))


def secret_values(*settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of all settings whose key sounds secret, longest first so that none hides in another."""
    found = {str(value) for group in settings for key, value in group.items() if is_secret(key)}
    return tuple(sorted((value for value in found if len(value) > 3), key=len, reverse=True))


def hide(text: str, secrets: Iterable[str]) -> str:
    """Return `text` with every secret value, and every password inside an address, masked."""
    text = scrub_secrets(text, list(secrets))
    text = _LOGIN_IN_ADDRESS.sub(rf"\1{HIDDEN}@", text)
    return _LOGIN_IN_QUERY.sub(rf"\1{HIDDEN}", text)
