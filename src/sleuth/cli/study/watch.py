"""The progress of a query that takes long."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Watch:
    """How far the engine has come with a query, asked from beside it."""

    def __init__(self, connection: Any) -> None:
        import threading

        from sleuth.cli.progress import Progress
        from sleuth.study import engine

        self._connection = connection
        self._progress = Progress("tasks" if engine.is_spark(connection) else "% of the query")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self._progress.__exit__(*error)

    def _look(self) -> None:
        from sleuth.study import engine

        while not self._over.wait(0.2):
            if (known := engine.progress(self._connection)) is not None:
                self._progress(*known)
