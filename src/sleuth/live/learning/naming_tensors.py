"""The name a result is stored under: `logits = self.head(x)` makes a tensor named logits."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType, FrameType

from sleuth.program import users_frame

_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR")


def stored_as(frame: FrameType | None) -> str | None:
    """The name that the call now running in this frame (or in a frame of the user's around it, as far as each only
    returns it) is stored under."""
    frame = users_frame(frame)
    while frame is not None:
        what, name = _next(frame.f_code, frame.f_lasti)
        if what == "store":
            return name
        if what != "return":
            return None
        frame = users_frame(frame.f_back)
    return None


@lru_cache(maxsize=4096)
def _next(code: CodeType, instruction: int) -> tuple[str, str | None]:
    """What becomes of the value on the stack after an instruction."""
    for one in dis.get_instructions(code):
        if one.offset <= instruction or one.opname in ("CACHE", "COPY", "DUP_TOP", "NOP"):
            continue
        if one.opname.startswith(_STORES):
            # Newer Pythons fuse two stores, or a store and a load, into one.
            name = one.argval[0] if isinstance(one.argval, tuple) else one.argval
            return "store", str(name)
        return ("return" if one.opname == "RETURN_VALUE" else "other"), None
    return "other", None
