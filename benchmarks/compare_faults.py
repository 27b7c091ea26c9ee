"""Faults put at random into ports of small networks: are they found, at the right place, by the right name?

Eight networks (batch norms and residuals, recurrent, encoder-decoder, GPT with composed and with fused attention, ViT,
U-Net), fresh and trained, from PyTorch to ONNX and to Keras on three backends. The faults (weights, attributes, wiring,
precision) are drawn without knowledge of what Sleuth can name; sizes are log-uniform; what does not change the outputs
by 3e-6 of their size is dropped and drawn anew. As many clean pairs must be left in peace. Every trial follows from the
seed: a run that was stopped goes on where it was."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ENGINE = HERE.parent / "src" / "sleuth" / "compare"
RESULT = HERE / "results" / "compare_faults.json"
CACHE = HERE / ".cache" / "compare_faults"
PACKAGES = ("torch", "onnx", "onnxruntime", "onnxscript", "keras", "jax", "tensorflow-cpu", "numpy")
# Of the trials, to ONNX and to each backend of Keras.
SHARES = {"onnx": 0.4, "keras-torch": 0.2, "keras-jax": 0.2, "keras-tensorflow": 0.2}


def main() -> None:
    options = _options()
    folder = CACHE / f"{options.seed}-{code()}"
    if options.child:
        carry_out(options.child, options.seed, options.faults, options.clean, options.folder)
        return
    pairs = list(SHARES) if options.pairs == "all" else options.pairs.split(",")
    whole = sum(SHARES[pair] for pair in pairs)
    start = time.time()
    for pair in pairs:
        faults, clean = (round(count * SHARES[pair] / whole) for count in (options.faults, options.clean))
        start_child(pair, options.seed, faults, clean, folder)
    write(pairs, options, folder, time.time() - start)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--clean", type=int, default=300)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--pairs", default="all", help=f"all, or some of {','.join(SHARES)}")
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def code() -> str:
    """Of the engine, so that no trial of another version is counted."""
    digest = hashlib.sha256()
    for path in sorted([*ENGINE.rglob("*.py"), *(HERE / "compare").glob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def start_child(pair: str, seed: int, faults: int, clean: int, folder: Path) -> None:
    """A process a pair: Keras has one backend for a process's whole life."""
    backend = pair.partition("-")[2] or "torch"
    settings = {
        "KERAS_BACKEND": backend,
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONWARNINGS": "ignore",
    }
    words = [
        "--child",
        pair,
        "--seed",
        str(seed),
        "--faults",
        str(faults),
        "--clean",
        str(clean),
        "--folder",
        str(folder),
    ]
    subprocess.run([sys.executable, __file__, *words], check=True, env={**os.environ, **settings})


def carry_out(pair: str, seed: int, faults: int, clean: int, folder: Path) -> None:
    import logging

    import torch
    from compare.trials import Trial, carried_out

    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{pair}.jsonl"
    done = {(row["clean"], row["number"]) for row in rows_of(path)}
    trials = [Trial(pair, seed, n, False) for n in range(faults)] + [Trial(pair, seed, n, True) for n in range(clean)]
    with tempfile.TemporaryDirectory() as name, path.open("a", encoding="utf-8") as lines:
        for trial in trials:
            if (trial.clean, trial.number) in done:
                continue
            row = {"pair": pair, **carried_out(trial, Path(name))}
            lines.write(json.dumps(row) + "\n")
            lines.flush()
            _progress(row, len(trials))


def _progress(row: dict[str, Any], of: int) -> None:
    words = "clean" if row["clean"] else f"{row['family']}, {row['what']}"
    outcome = row.get("raised") or (("ALARM" if row["found"] else "quiet") if row["clean"] else row["place"])
    print(
        f"{row['pair']} {row['number']} of {of}: {row['kind']}, {words}: {outcome}, cause {row.get('cause', '-')}",
        flush=True,
    )


def rows_of(path: Path) -> list[dict[str, Any]]:
    """A line that was cut off when the run was stopped is done again."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def versions() -> dict[str, str | None]:
    """Of what is installed: not every pair needs all of it."""
    found: dict[str, str | None] = dict.fromkeys(PACKAGES)
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def write(pairs: list[str], options: argparse.Namespace, folder: Path, wall: float) -> None:
    from compare.tally import told

    rows = [row for pair in pairs for row in rows_of(folder / f"{pair}.jsonl")]
    rows.sort(key=lambda row: (row["pair"], row["clean"], row["number"]))
    result = {
        "what": " ".join((__doc__ or "").split()),
        "seed": options.seed,
        "code": code(),
        "machine": {
            "cpu": platform.machine(),
            "cores": os.cpu_count(),
            "threads": 1,
            "python": platform.python_version(),
        },
        "versions": versions(),
        "wall seconds of this run": round(wall),
        **told(rows),
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({key: result[key] for key in ("faults", "clean pairs")}, indent=1))


if __name__ == "__main__":
    main()
