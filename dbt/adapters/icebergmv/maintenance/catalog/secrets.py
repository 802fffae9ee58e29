"""Keeping secrets out of messages: which settings are secret, and hiding their values in a text."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator, Mapping

# A key that is secret is called after what it opens; `partition-key` or a key's id opens nothing.
_SECRET_KEY = re.compile(
    r"secret|password|token|credential|authorization|cookie|connection-string"
    r"|passwd|(?:access|private|api|account)[._-]?key|(?:sse|encryption|decryption)[.-]key$",
    re.IGNORECASE,
)
_LOGIN_IN_ADDRESS = re.compile(r"(//[^/@\s:]+:)[^/@\s]+@")
# A password may have `/` and `@` in it; what begins like a port is none. `abfss://container@account` is no login.
_ODD_LOGIN_IN_ADDRESS = re.compile(r"(//[^/\s:?\"']{0,100}:(?!\d+/))[^\s\"'?]{1,4000}@")
_TOKEN_IN_ADDRESS = re.compile(r"(https?://)[^/@\s:?\"']+@")
_LOGIN_IN_QUERY = re.compile(
    r"((?:password|passwd|token|secret|signature|\bsig)=)(?:(?!;\w+=)[^&\s\"'])+", re.IGNORECASE
)
HIDDEN = "*****"


def is_secret(key: str) -> bool:
    """Return whether the key of a setting sounds as if its value must not be shown."""
    return bool(_SECRET_KEY.search(key))


def secret_values(*settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of all settings whose key sounds secret, longest first so that none hides in another."""
    given = [(key, str(value)) for group in settings for key, value in group.items() if is_secret(key)]
    found = {part for key, value in given for part in _parts(key, value)}
    return tuple(sorted((value for value in found if _can_be_secret(value)), key=len, reverse=True))


def hide(text: str, secrets: Iterable[str]) -> str:
    """Return `text` with every secret value, and every password inside an address, masked."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    for login in (_LOGIN_IN_ADDRESS, _ODD_LOGIN_IN_ADDRESS, _TOKEN_IN_ADDRESS):
        text = login.sub(rf"\1{HIDDEN}@", text)
    return _LOGIN_IN_QUERY.sub(rf"\1{HIDDEN}", text)


def shown_cause(error: Exception, secrets: Iterable[str]) -> Exception | None:
    """Return the error as the cause of one whose message hides secrets, if none is in what a log shows of it."""
    text = "".join(traceback.format_exception(error))
    return error if hide(text, secrets) == text else None


def _parts(key: str, value: str) -> Iterator[str]:
    """Yield a value, and the part of it that a server may repeat alone: the secret of `<id>:<secret>`, or a login."""
    yield value
    if key.lower().endswith("credential"):
        yield value.partition(":")[2]
    if key.lower().endswith("authorization"):
        yield value.partition(" ")[2]


def _can_be_secret(value: str) -> bool:
    # `token-refresh-enabled: true` sounds secret, too.
    return len(value) > 3 and value not in {"true", "false"}
