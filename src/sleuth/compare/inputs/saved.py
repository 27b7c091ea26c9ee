"""A sample as an .npz file that can be given again, bit by bit the same."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sleuth.compare.inputs.sample import Sample
from sleuth.compare.side import CannotCompare
from sleuth.compare.values import Array

# Beside the arrays: the label, the seed and the order of the inputs.
_ABOUT = "sleuth"


def save(sample: Sample, path: str | Path, names: Sequence[str] = ()) -> Path:
    """Under the inputs' names, or `input_0`, `input_1`, …; the file is there whole or not at all."""
    path = Path(path)
    known = list(names) if len(set(names)) == len(sample.batch) and _ABOUT not in names else []
    keys = known or [f"input_{place}" for place in range(len(sample.batch))]
    about = json.dumps({"label": sample.label, "seed": sample.seed, "inputs": keys})
    arrays: dict[str, Array] = dict(zip(keys, sample.batch, strict=True))
    aside = path.with_name(path.name + ".part")
    try:
        with zipfile.ZipFile(aside, "w") as archive:
            for key, array in {**arrays, _ABOUT: np.array(about)}.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        os.replace(aside, path)
    except OSError as problem:
        raise CannotCompare(f"{path} cannot be written: {problem.strerror}") from None
    finally:
        aside.unlink(missing_ok=True)
    return path


def load(path: str | Path) -> tuple[Sample, list[str]]:
    """The sample and the names of its inputs; of any other .npz, its arrays in the order in which they lie there."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise CannotCompare(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as problem:
        objects = "allow_pickle" in str(problem) and zipfile.is_zipfile(path)
        what = "it holds Python objects" if objects else "it is damaged or something else"
        raise CannotCompare(f"{path} cannot be read as .npz: {what}") from None
    about = arrays.pop(_ABOUT, None)
    if about is None or about.dtype.kind != "U":
        if about is not None:
            arrays[_ABOUT] = about
        return Sample(Path(path).name, tuple(arrays.values())), list(arrays)
    told = json.loads(str(about))
    return Sample(told["label"], tuple(arrays[key] for key in told["inputs"]), told["seed"]), list(told["inputs"])
