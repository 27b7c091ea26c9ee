"""The kernel's own lock, where it has one (Linux 5.19 and later): nothing this process does can write outside."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

from sleuth.dry.safe.layers import real

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38
# Write to a file; remove folder and file; make a device, folder, file, socket, pipe, block device and link.
_WRITE = 1 << 1
_CHANGE = _WRITE | sum(1 << bit for bit in range(4, 13))
# Move between folders, and truncate: each known since a version of the lock.
_SINCE = {2: 1 << 13, 3: 1 << 14}


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def lock(scratch: str) -> bool:
    """From now on, and for good, only what lies in `scratch` can be changed. False where the kernel cannot do it."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    if version < 2:  # the first version allows no moving at all
        return False
    change = _CHANGE | sum(bit for since, bit in _SINCE.items() if version >= since)
    handled = ctypes.c_uint64(change)
    rules = libc.syscall(_CREATE, ctypes.byref(handled), ctypes.c_size_t(8), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        # Shared memory and semaphores live in /dev/shm and go with the process; a terminal is written to in /dev.
        for folder, access in ((scratch, change), ("/dev/shm", change), ("/dev", _WRITE), ("/proc/self", _WRITE)):
            _allow(libc, rules, folder, access)
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            return False
        return bool(libc.syscall(_RESTRICT, rules, ctypes.c_uint32(0)) == 0)
    finally:
        real.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, folder: str, access: int) -> None:
    with contextlib.suppress(OSError):
        descriptor = real.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = _Rule(access, descriptor)
        libc.syscall(_ADD, rules, _BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
        real.close(descriptor)
