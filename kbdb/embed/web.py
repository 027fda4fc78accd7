"""What both users of the network share: an httpx client with our limits, addresses, waits between tries.

The only file that knows httpx's options; ``service`` asks for vectors, ``fetch`` downloads a model.
"""

from __future__ import annotations

import ipaddress
import logging
import random
import time
from typing import TYPE_CHECKING, Any

from kbdb.errors import ConfigError, EmbeddingPackageMissingError

if TYPE_CHECKING:
    import httpx

CONNECT_S = 10.0
TRIES = 4
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
"""A server that wants us to wait longer is told of instead."""

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed."""

_PORTS = {"http": 80, "https": 443}


def httpx_module() -> Any:
    """httpx, loaded now.

    Raises:
        EmbeddingPackageMissingError: it is not installed.
    """
    try:
        import httpx
    except ImportError as error:
        message = f"this needs {error.name}, which cannot be imported"
        raise EmbeddingPackageMissingError(message, "pip install 'kbdb[api]'") from error
    return httpx


def client(address: httpx.URL, read_s: float) -> httpx.Client:
    """A client that follows no redirect by itself and waits at most so long for the next bytes.

    Proxies of the environment count, but not for this machine.
    """
    library = httpx_module()
    # It tells every request with its whole address, and a signed one lets anybody in who reads it.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    made: httpx.Client = library.Client(
        timeout=library.Timeout(read_s, connect=min(CONNECT_S, read_s)),
        follow_redirects=False,
        trust_env=not is_loopback(address),
        headers={"Accept-Encoding": "identity", "User-Agent": "kbdb"},
    )
    return made


def address_of(written: str, setting: str) -> httpx.URL:
    """The address that a setting holds.

    Raises:
        ConfigError: it is none that can be used; a password in it is not repeated.
    """
    library = httpx_module()
    try:
        url: httpx.URL = library.URL(written.strip())
    except (library.InvalidURL, ValueError) as error:
        raise ConfigError(f"{setting} is no address", "write one like https://host/v1") from error
    if url.userinfo:
        raise ConfigError(f"{setting} holds a user name or password", "leave it out; keys come from the environment")
    if url.scheme not in _PORTS or not url.host:
        raise ConfigError(f"{setting} is {shown(url)!r}", "write an address that starts with https:// or http://")
    return url


def shown(url: httpx.URL) -> str:
    """An address for messages: without user, query and fragment, where people put keys."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))


def origin(url: httpx.URL) -> tuple[str, str, int]:
    """Whom an address speaks to: scheme, host and port."""
    return url.scheme, url.host.lower(), url.port or _PORTS.get(url.scheme, 0)


def is_loopback(url: httpx.URL) -> bool:
    """Whether an address is of this machine."""
    try:
        return ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return url.host.lower() == "localhost"


def wait_before(attempt: int, retry_after: str | None) -> float:
    """Seconds to wait before the next try: as the server says, else twice as long each time, and never quite the same.

    Args:
        attempt: how many have failed.
        retry_after: the header of that name: seconds or a date.
    """
    asked = _seconds(retry_after)
    if asked is not None:
        return asked
    return FIRST_WAIT_S * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)


def _seconds(header: str | None) -> float | None:
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
