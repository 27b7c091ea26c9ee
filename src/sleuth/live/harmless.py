"""Nothing that goes wrong inside Sleuth may reach the program."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Protocol, TypeVar

from torch.compiler import is_dynamo_compiling

from sleuth.live.stop import Stop

Method = TypeVar("Method", bound=Callable[..., Any])


class Guarded(Protocol):
    """What a class needs for its methods to be guarded."""

    off: bool
    tracing: bool
    failed: Callable[[Exception], None]

    def switch_off(self) -> None: ...
    def untraced(self) -> AbstractContextManager[None]: ...


def harmless(method: Method) -> Method:
    """An error of ours is reported once and switches the watch off; the program goes on."""

    @wraps(method)
    def guarded(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        if is_dynamo_compiling() or self.off:
            return None
        try:
            if not self.tracing:
                return method(self, *args, **kwargs)
            with self.untraced():
                return method(self, *args, **kwargs)
        except Stop:
            raise
        except Exception as error:
            self.switch_off()
            self.failed(error)
            return None

    return guarded  # type: ignore[return-value]
