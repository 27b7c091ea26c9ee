"""Functions of a framework wrapped so that they tell a listener, and unwrapped again without a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sleuth.frameworks.patches import Patches


class Wraps:
    """Everything that was wrapped or registered, with the way back. `hide(original, telling)` gives what is to stand
    for the original instead of what tells, where that must not be seen by all."""

    def __init__(self, hide: Callable[[Any, Any], Any] | None = None) -> None:
        self.patches = Patches()
        self._hide = hide

    def also_undo(self, *ways_back: Callable[[], object]) -> None:
        self.patches.later(*ways_back)

    def wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
        original = owner.__dict__[name]
        telling = wrapper(original)
        self.patches.set(owner, name, telling if self._hide is None else self._hide(original, telling))

    def lost(self) -> list[str]:
        """What the program has since put something else in the place of, which does not call what it found there."""
        newest = {(id(owner), name): (owner, name, ours) for owner, name, _, ours in self.patches.replaced()}
        return [
            f"{owner.__name__}.{name}"
            for owner, name, ours in newest.values()
            if not _leads_to(owner.__dict__.get(name), ours)
        ]

    def remove(self) -> None:
        self.patches.undo()


def _leads_to(function: Any, wanted: Any) -> bool:
    """By `functools.wraps`, which most who wrap use; or by what a closure holds."""
    seen: set[int] = set()
    todo = [function]
    while todo:
        one = todo.pop()
        if one is wanted:
            return True
        if one is None or id(one) in seen or not callable(one):
            continue
        seen.add(id(one))
        todo.append(getattr(one, "__wrapped__", None))
        todo += [cell.cell_contents for cell in getattr(one, "__closure__", None) or () if _is_filled(cell)]
    return False


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def before(tell: Callable[..., object]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def told(*args: Any, **kwargs: Any) -> Any:
            tell(*args, **kwargs)
            return original(*args, **kwargs)

        return told

    return wrapper


def after(tell: Callable[..., object]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def told(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            tell(*args, **kwargs)
            return result

        return told

    return wrapper


def after_result(tell: Callable[[Any, Any], object]) -> Callable[[Any], Any]:
    """Tells the first argument and the result."""

    def wrapper(original: Any) -> Any:
        def told(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            tell(args[0] if args else None, result)
            return result

        return told

    return wrapper
