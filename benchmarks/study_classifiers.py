"""What `sleuth study classify` is worth on public labels: five models, one protocol, nothing tuned on a test fold.

Stratified 5-fold cross-validation, cut anew for every repeat; every model chooses its strength on inner folds of its
training folds. Figures are means over the repeats; intervals come from resampling posts (95 %). The texts stay where
they are: `--labelled` is a folder with labels.csv (source, key, scheme, label, rater) and texts.jsonl. `--labels` and
`--texts` measure any other set: JSON lines of Sleuth, or a CSV with key, kind (or label) and rater."""

from __future__ import annotations

import argparse
import csv
import json
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import sklearn

from sleuth.study.classify.choose import LOGISTIC, SVMS
from sleuth.study.classify.evaluate import Classifier, Evaluation, cross_validate, evaluate
from sleuth.study.classify.examples import Ceiling, Examples, gather
from sleuth.study.classify.keywords import KeywordModel
from sleuth.study.classify.linear import LinearModel
from sleuth.study.classify.minilm import Embedder, MiniLMModel
from sleuth.study.classify.models import picked_for
from sleuth.study.classify.together import BothModel
from sleuth.study.label.store import Label, read_labels

RESULT = Path(__file__).parent / "results" / "study_classifiers.json"
# Name, source, scheme, what of a post is read, and the best macro-F1 that models known before reached in 5 folds.
SETS = (
    ("6 classes, 600 posts", "dlbugcls", "humbatova.top5", "text", 0.78),
    ("5 classes, 526 titles", "shah_emse24", "humbatova.top5", "title", 0.71),
    ("7 phases, 2,401 titles", "liu_ist24", "liu.phase_letter", "title", 0.78),
)
# Not those with which the models were designed.
SEED = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, help="the folder with the public labels and texts")
    parser.add_argument("--labels", type=Path, help="another set: its labels")
    parser.add_argument("--texts", type=Path, help="another set: its texts, a corpus or JSON lines")
    parser.add_argument("--name", help="what to call the other set (default: the name of the file of labels)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", metavar="SOURCE", help="only this source of the public labels")
    parser.add_argument(
        "--model", metavar="WORD", help="only models with this in their name; the others stay as they are"
    )
    parser.add_argument("--store", type=Path, help="where to remember embeddings")
    parser.add_argument("--output", type=Path, default=RESULT)
    args = parser.parse_args()
    if (args.labels is None) != (args.texts is None) or (args.labels is None and args.labelled is None):
        parser.error("give --labelled, or --labels with --texts")
    embed = Embedder(args.store)
    for name, examples, bar, codebook in _sets(args):
        print(f"{name}: {len(examples)} posts", flush=True)
        measured: dict[str, Any] = {
            "bar": bar,
            "posts": len(examples),
            "raters": _raters(examples.ceiling),
            "models": {},
        }
        for model, make in _models(embed, codebook).items():
            if args.model is None or args.model in model:
                measured["models"][model] = _measured(make, examples, args.repeats)
                _save(args.output, name, measured)
    print(_markdown(json.loads(args.output.read_text())))
    args.output.with_suffix(".md").write_text(_markdown(json.loads(args.output.read_text())))


def _sets(args: argparse.Namespace) -> Iterable[tuple[str, Examples, float | None, str | None]]:
    if args.labels is not None:
        labels = list(_any_labels(args.labels))
        yield args.name or args.labels.stem, gather(labels, args.texts), None, labels[0].codebook
        return
    labels = list(read_labels(args.labelled / "labels.csv"))
    for name, source, scheme, part, bar in SETS:
        if args.only in (None, source):
            chosen = [label for label in labels if label.source == source and label.codebook == scheme]
            yield name, _read_part(gather(chosen, args.labelled / "texts.jsonl"), args.labelled, part), bar, None


def _read_part(examples: Examples, labelled: Path, part: str) -> Examples:
    """The same posts, of which only the title or only the text is read, as those did who set the bar."""
    rows = map(json.loads, (labelled / "texts.jsonl").open(encoding="utf-8"))
    texts = {
        row["key"]: row.get(part) or row.get("body") or row.get("title") for row in rows if row["key"] in examples.keys
    }
    return replace(examples, texts=tuple(texts[key] for key in examples.keys))


def _any_labels(path: Path) -> Iterable[Label]:
    with path.open(encoding="utf-8") as file:
        header = file.readline()
    if "kind" not in header.split(",") and "scheme" not in header:
        header = ""
    if "scheme" in header or not header:
        return read_labels(path)
    rows = csv.DictReader(path.open(encoding="utf-8", newline=""))
    return [Label(row["key"], "kinds", row["kind"], row.get("rater") or "final") for row in rows if row["kind"]]


def _models(embed: Embedder, codebook: str | None) -> dict[str, Callable[[], Classifier]]:
    return {
        "study Z's keyword model": lambda: KeywordModel(picked=picked_for(codebook)),
        "tf-idf + linear SVM": lambda: LinearModel(SVMS),
        "tf-idf + logistic regression": lambda: LinearModel(LOGISTIC),
        "tf-idf + the better of the two (`linear`)": LinearModel,
        "MiniLM + logistic regression (`minilm`)": lambda: MiniLMModel(embed),
        "mean of tf-idf + SVM and `minilm`": lambda: BothModel(embed, side_by_side=False),
        "mean with both side by side (`both`)": lambda: BothModel(embed),
    }


def _measured(make: Callable[[], Classifier], examples: Examples, repeats: int) -> dict[str, Any]:
    began = time.process_time()
    held = cross_validate(make, examples.texts, examples.labels, repeats=repeats, seed=SEED, weights=examples.weights)
    found = evaluate(held, seed=SEED)
    f1 = found.macro_f1
    print(f"  {found.accuracy.value:.3f} / {f1.value:.3f} ({f1.low:.3f}-{f1.high:.3f})", flush=True)
    return {**_told(found), "cpu_seconds": round(time.process_time() - began, 1)}


def _told(found: Evaluation) -> dict[str, Any]:
    return {
        "accuracy": [round(value, 4) for value in (found.accuracy.value, found.accuracy.low, found.accuracy.high)],
        "macro_f1": [round(value, 4) for value in (found.macro_f1.value, found.macro_f1.low, found.macro_f1.high)],
        "macro_f1_by_repeat": [round(value, 4) for value in found.by_repeat],
        "calibration_error": round(found.calibration.error, 4),
        "majority": [round(found.majority_accuracy, 4), round(found.majority_macro_f1, 4)],
        "classes": list(found.classes),
        "matrix": [[round(cell, 1) for cell in row] for row in found.matrix.tolist()],
    }


def _raters(ceiling: Ceiling | None) -> dict[str, Any] | None:
    if ceiling is None:
        return None
    kappa = ceiling.kappa
    return {
        "kappa": [kappa.value, kappa.low, kappa.high],
        "agreement": ceiling.agreement,
        "macro_f1": ceiling.macro_f1,
        "posts": kappa.units,
    }


def _save(path: Path, name: str, measured: dict[str, Any]) -> None:
    result = json.loads(path.read_text()) if path.exists() else {"sets": {}}
    result["environment"] = {"python": platform.python_version(), "scikit-learn": sklearn.__version__, "seed": SEED}
    before = result["sets"].get(name, {"models": {}})
    result["sets"][name] = {**measured, "models": {**before["models"], **measured["models"]}}
    path.write_text(json.dumps(result, indent=1) + "\n")


def _markdown(result: dict[str, Any]) -> str:
    sets = result["sets"]
    lines = [
        "# Classifiers on labelled posts",
        "",
        "Accuracy / macro-F1, the latter with its 95 % interval from resampling posts; stratified 5-fold",
        "cross-validation, means over repeats with other folds; strengths chosen on inner folds only.",
        "",
        "| model | " + " | ".join(sets) + " |",
        "|---" * (len(sets) + 1) + "|",
        "| majority | "
        + " | ".join("{:.2f} / {:.2f}".format(*_any_of(each)["majority"]) for each in sets.values())
        + " |",
    ]
    for model in _models(Embedder(), None):
        lines.append(f"| {model} | " + " | ".join(_cell(each["models"].get(model)) for each in sets.values()) + " |")
    bars = [f"{each['bar']:.2f}" if each["bar"] else "–" for each in sets.values()]
    lines.append("| best known before | " + " | ".join(bars) + " |")
    raters = [_rater_cell(each["raters"]) for each in sets.values()]
    if set(raters) != {"–"}:
        lines.append("| two raters (kappa) | " + " | ".join(raters) + " |")
    repeats = ", ".join(f"{name}: {len(_any_of(each)['macro_f1_by_repeat'])}" for name, each in sets.items())
    return "\n".join([*lines, "", f"Repeats: {repeats}.", ""])


def _any_of(measured: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(iter(measured["models"].values()))
    return found


def _majority_cell(measured: dict[str, Any]) -> str:
    accuracy, macro_f1 = _any_of(measured)["majority"]
    return f"{accuracy:.2f} / {macro_f1:.2f}"


def _cell(model: dict[str, Any] | None) -> str:
    if model is None:
        return "–"
    value, low, high = model["macro_f1"]
    return f"{model['accuracy'][0]:.2f} / **{value:.3f}** ({low:.2f}–{high:.2f})"


def _rater_cell(raters: dict[str, Any] | None) -> str:
    return f"{raters['agreement']:.2f} / {raters['macro_f1']:.2f} ({raters['kappa'][0]:.2f})" if raters else "–"


if __name__ == "__main__":
    main()
