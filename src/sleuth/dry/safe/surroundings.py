"""What libraries read from the environment: no trackers, no windows, temporary files in the scratch folder."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.patches import Patches

_ALWAYS = {
    "WANDB_MODE": "disabled",
    "WANDB_SILENT": "true",
    "COMET_MODE": "DISABLED",
    "NEPTUNE_MODE": "debug",
    "CLEARML_OFFLINE_MODE": "1",
    "SWANLAB_MODE": "disabled",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    # Without it, every model that is not in the cache is asked for six times, with longer and longer pauses.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    # No helper that stays when git has gone.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "JOBLIB_MULTIPROCESSING": "0",
    "MPLBACKEND": "Agg",
}
# The call by which a program begins to report to a tracker.
_TRACKERS = {
    "wandb": "init",
    "mlflow": "start_run",
    "comet_ml": "Experiment",
    "neptune": "init_run",
    "clearml": "Task.init",
    "swanlab": "init",
}


def install(patches: Patches, scratch: str, tell: Callable[[str, str], None], imports: AfterImport) -> None:
    temporary = os.path.join(scratch, "tmp")
    variables = {**_ALWAYS, "TMPDIR": temporary, "MLFLOW_TRACKING_URI": f"file://{scratch}/mlruns"}
    for name, value in variables.items():
        _set(patches, name, value)
    patches.set(tempfile, "tempdir", temporary)
    patches.set(sys, "dont_write_bytecode", True)
    imports.of("huggingface_hub.constants", lambda: _hub_offline(patches))
    for module, call in _TRACKERS.items():
        imports.of(module, _listed(patches, module, call, tell))


def _set(patches: Patches, name: str, value: str) -> None:
    before = os.environ.get(name)
    os.environ[name] = value
    patches.later(lambda: os.environ.pop(name, None) if before is None else os.environ.__setitem__(name, before))


def _hub_offline(patches: Patches) -> None:
    """For a hub that was imported, and has read its environment, before."""
    patches.set(sys.modules["huggingface_hub.constants"], "HF_HUB_OFFLINE", True)


def _listed(patches: Patches, module: str, call: str, tell: Callable[[str, str], None]) -> Callable[[], None]:
    """Says so when the program begins to report to a tracker, which the environment keeps quiet."""

    def patch() -> None:
        owner: Any = importlib.import_module(module)
        *path, name = call.split(".")
        for part in path:
            owner = getattr(owner, part, None)
        original = getattr(owner, name, None)
        if original is None or isinstance(original, type):
            return

        def begin(*args: Any, **options: Any) -> Any:
            tell("tracker", f"{module}.{call}")
            return original(*args, **options)

        patches.set(owner, name, staticmethod(begin) if isinstance(owner, type) else begin)

    return patch
