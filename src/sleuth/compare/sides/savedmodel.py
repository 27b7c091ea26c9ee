"""A TensorFlow SavedModel, in a process of its own: TensorFlow is large, and noisy beside other frameworks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.remote import RemoteSide


class SavedModelSide(RemoteSide):
    """The folder's `serving_default` signature, or its only one, or the object itself if that can be called."""

    def __init__(self, folder: str | Path, title: str = "") -> None:
        if not (Path(folder) / "saved_model.pb").is_file():
            raise CannotCompare(f"{folder} is no SavedModel: it has no saved_model.pb")
        if importlib.util.find_spec("tensorflow") is None:
            raise CannotCompare(
                f"{folder} is a SavedModel, and TensorFlow is not installed: pip install 'sleuth-ml[tensorflow]'"
            )
        super().__init__("savedmodel", folder, title=title)
