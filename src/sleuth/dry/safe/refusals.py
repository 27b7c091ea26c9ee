"""What the rehearsal has refused the program: a crash that follows from it is ours, not the program's."""

from __future__ import annotations

from typing import TypeVar

_Error = TypeVar("_Error", bound=BaseException)
# What the Hugging Face hub raises for a file that it may not fetch.
_HUB = ("OfflineModeIsEnabled", "LocalEntryNotFoundError")
_MARK = "__sleuth_refused__"


def marked(error: _Error, need: str) -> _Error:
    """The error, remembered as caused by the rehearsal; `need` ends the sentence "the program needs …"."""
    setattr(error, _MARK, need)
    return error


def behind(error: BaseException | None) -> str | None:
    """What the program was refused that led to this error, if it was: "the network (example.org)"."""
    seen: set[int] = set()
    todo = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        need = getattr(one, _MARK, None)
        if need is not None:
            return str(need)
        if type(one).__name__ in _HUB:
            return "the network (huggingface.co)"
        if not isinstance(one, PermissionError) and "permission denied" in str(one).lower():
            # Not Python's own error: a library has tried by itself, and the kernel said no.
            return "to write a file in a way that cannot be redirected"
        todo += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return None
