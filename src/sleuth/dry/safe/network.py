"""No network but this machine's own: the program meets the errors of a machine that is not connected."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.refusals import marked
from sleuth.frameworks.patches import Patches

Tell = Callable[[str, str], None]


def install(patches: Patches, tell: Tell, scratch: str) -> None:
    for name in ("connect", "connect_ex"):
        patches.set(socket.socket, name, _connecting(getattr(socket.socket, name), tell, scratch))
    for name in ("sendto", "sendmsg"):
        if hasattr(socket.socket, name):
            patches.set(socket.socket, name, _sending(getattr(socket.socket, name), tell, scratch))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr"):
        patches.set(socket, name, _resolving(getattr(socket, name), tell))


def is_here(address: Any, scratch: str) -> bool:
    """Does this address, as `socket.connect` takes it, stay on this machine and with this program?"""
    if isinstance(address, (str, bytes)):
        return os.fsdecode(address).startswith(scratch + "/")
    if not isinstance(address, tuple) or not address or not isinstance(address[0], (str, bytes)):
        return True  # not of the internet: the kernel's own sockets
    return _is_own_name(os.fsdecode(address[0]))


def _is_own_name(host: str) -> bool:
    if host in ("", "localhost", "localhost.localdomain", "ip6-localhost", socket.gethostname()):
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _shown(address: Any) -> str:
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) and len(address) > 1 else os.fsdecode(address)


def _unreachable(address: Any, tell: Tell) -> OSError:
    tell("network", _shown(address))
    unconnected = errno.ENETUNREACH if isinstance(address, tuple) else errno.ECONNREFUSED
    return marked(OSError(unconnected, os.strerror(unconnected)), f"the network ({_shown(address)})")


def _connecting(original: Callable[..., Any], tell: Tell, scratch: str) -> Callable[..., Any]:
    def connect(self: socket.socket, address: Any) -> Any:
        if is_here(address, scratch):
            return original(self, address)
        error = _unreachable(address, tell)
        if original.__name__ == "connect_ex":
            return error.errno
        raise error

    return connect


def _sending(original: Callable[..., Any], tell: Tell, scratch: str) -> Callable[..., Any]:
    last = 3 if original.__name__ == "sendmsg" else 1

    def send(self: socket.socket, *args: Any) -> Any:
        address = args[-1] if len(args) > last else None
        if address is None or is_here(address, scratch):
            return original(self, *args)
        raise _unreachable(address, tell)

    return send


def _resolving(original: Callable[..., Any], tell: Tell) -> Callable[..., Any]:
    def resolve(host: Any, *args: Any, **options: Any) -> Any:
        name = os.fsdecode(host) if isinstance(host, (str, bytes)) else ""
        if _is_own_name(name) or _is_number(name):
            return original(host, *args, **options)
        tell("network", name)
        error = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        raise marked(error, f"the network ({name})")

    return resolve


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
