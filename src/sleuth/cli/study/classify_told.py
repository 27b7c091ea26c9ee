"""How `sleuth study classify` tells what it found: as data, and as tables."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.study.classify.evaluate import Evaluation, Score
    from sleuth.study.classify.examples import Examples
    from sleuth.study.classify.published import AsPublished

_WHY_CAPPED = """\
The published code enters a wrong guess into the confusion matrix only while that cell is empty, so that any number of
posts of one class taken for another counts as one error ("capped"). α was chosen on the test set as well. The table
in the paper has one reading of whole numbers, and only with capped cells: {right} right guesses and {errors} errors, of
286 posts. That is {accuracy:.0%} accuracy, not 80 %. Strong evidence, not proof.
"""


def of_examples(examples: Examples, folds: int) -> dict[str, Any]:
    """What was learnt from, and how far its raters agree."""
    data: dict[str, Any] = {
        "codebook": examples.codebook,
        "posts": len(examples),
        "labels": len(set(examples.labels)),
        "weighted": len(set(examples.weights)) > 1,
        "without_text": examples.without_text,
        "ties": examples.ties,
        "folds": folds,
        "raters": None,
    }
    if examples.ceiling is not None:
        ceiling, kappa = examples.ceiling, examples.ceiling.kappa
        data["raters"] = {
            "names": list(ceiling.raters),
            "posts": kappa.units,
            "kappa": {"value": kappa.value, "low": kappa.low, "high": kappa.high},
            "agreement": ceiling.agreement,
            "macro_f1": ceiling.macro_f1,
        }
    return data


def as_data(name: str, found: Evaluation) -> dict[str, Any]:
    """One model's evaluation as plain values."""
    return {
        "model": name,
        "repeats": found.repeats,
        "accuracy": vars(found.accuracy),
        "macro_f1": vars(found.macro_f1),
        "macro_f1_by_repeat": list(found.by_repeat),
        "majority": {"accuracy": found.majority_accuracy, "macro_f1": found.majority_macro_f1},
        "classes": [vars(each) for each in found.of_classes],
        # Rows are true labels, columns guessed ones, in the order of `classes`; a mean over repeats.
        "confusion": [[float(cell) for cell in row] for row in found.matrix],
        "calibration": {"error": found.calibration.error, "bands": [vars(band) for band in found.calibration.bands]},
    }


def published_data(found: AsPublished) -> dict[str, Any]:
    """The paper's protocol, and how its own table reads."""
    from sleuth.study.classify.published import PRINTED_ALPHA, readings

    (reading,) = readings()
    return {
        **{name: value for name, value in vars(found).items() if name not in ("capped", "majority_capped")},
        "capped": vars(found.capped),
        "majority_capped": vars(found.majority_capped),
        "printed": {
            "alpha": PRINTED_ALPHA,
            "precision": 0.796,
            "recall": 0.803,
            "right": sum(line.right for line in reading),
            "errors": sum(line.false_positives for line in reading),
            "tested": 286,
        },
    }


def as_text(data: dict[str, Any]) -> str:
    """Everything as tables."""
    head = f"{data['posts']:,} posts, {data['labels']} labels ({data['codebook']}), {data['folds']} folds"
    parts = [_scores(data, head)]
    for model in data["models"]:
        parts += [_classes(model), _confusion(model), _calibration(model)]
    if "as_published" in data:
        parts.append(_published(data["as_published"]))
    if data["ties"]:
        parts.append(f"{data['ties']} posts had their raters evenly split; the first by name decided.\n")
    if "written" in data:
        parts.append(f"The model, trained on all {data['posts']:,} posts, is in {data['written']}.\n")
    return "\n".join(parts)


def _scores(data: dict[str, Any], head: str) -> str:
    repeats = data["models"][0]["repeats"]
    lines = [head + (f", {repeats} times" if repeats > 1 else ""), "", f"{'':10}  {'accuracy':16}  {'macro-F1':16}"]
    floor = data["models"][0]["majority"]
    lines.append(f"{'majority':10}  {_two(floor['accuracy']):16}  {_two(floor['macro_f1']):16}  the floor")
    for model in data["models"]:
        lines.append(f"{model['model']:10}  {_between(model['accuracy']):16}  {_between(model['macro_f1']):16}")
    if data["raters"] is not None:
        raters = data["raters"]
        lines.append(
            f"{'raters':10}  {_two(raters['agreement']):16}  {_two(raters['macro_f1']):16}  the ceiling:"
            f" {' and '.join(raters['names'])}, kappa {_between(raters['kappa'])}"
        )
    return "\n".join(lines) + "\n"


def _classes(model: dict[str, Any]) -> str:
    wide = max(len(model["model"]), *(len(each["label"]) for each in model["classes"]))
    lines = [f"{model['model']:{wide}}  posts  precision  recall    F1"]
    for each in model["classes"]:
        figures = f"{each['precision']:>9.2f}  {each['recall']:>6.2f}  {each['f1']:>4.2f}"
        lines.append(f"{each['label']:{wide}}  {each['posts']:>5}  {figures}")
    return "\n".join(lines) + "\n"


def _confusion(model: dict[str, Any]) -> str:
    labels = [each["label"] for each in model["classes"]]
    wide = max(4, *(len(label) for label in labels))
    column = max(5, *(len(f"{cell:.0f}") for row in model["confusion"] for cell in row))
    heads = "".join(f"  {label[:column]:>{column}}" for label in labels)
    lines = [f"{'true':{wide}}{heads}  (columns: what it was taken for)"]
    for label, row in zip(labels, model["confusion"], strict=True):
        lines.append(f"{label:{wide}}" + "".join(f"  {cell:>{column}.0f}" for cell in row))
    return "\n".join(lines) + "\n"


def _calibration(model: dict[str, Any]) -> str:
    found = model["calibration"]
    lines = [f"calibration: stated and right lie {found['error']:.3f} apart on average", "  stated  right  posts"]
    lines += [f"  {band['stated']:>6.0%}  {band['right']:>5.0%}  {band['posts']:>5.0f}" for band in found["bands"]]
    return "\n".join(lines) + "\n"


def _published(found: dict[str, Any]) -> str:
    printed = found["printed"]
    rows = [
        ("keywords", found["accuracy"], found["capped"]),
        ("majority", found["majority_accuracy"], found["majority_capped"]),
    ]
    lines = [
        f"as published: 60 % to learn from, {found['tested']} posts to test on, α = {found['alpha']:g} (theirs:"
        f" {printed['alpha']:g}), the best of 0, 0.01, … 1 on the test set",
        f"{'':10}  accuracy  capped precision  capped recall  right  errors counted",
    ]
    for name, accuracy, capped in rows:
        lines.append(
            f"{name:10}  {accuracy:>8.2f}  {capped['precision']:>16.2f}  {capped['recall']:>13.2f}"
            f"  {capped['right']:>5}  {capped['errors']:>14}"
        )
    lines.append(
        f"{'the paper':10}  {printed['right'] / printed['tested']:>8.2f}  {printed['precision']:>16.2f}"
        f"  {printed['recall']:>13.2f}  {printed['right']:>5}  {printed['errors']:>14}"
    )
    accuracy = printed["right"] / printed["tested"]
    why = _WHY_CAPPED.format(right=printed["right"], errors=printed["errors"], accuracy=accuracy)
    return "\n".join(lines) + "\n" + why


def _two(value: float) -> str:
    return f"{value:.2f}"


def _between(score: dict[str, Any] | Score) -> str:
    figures = score if isinstance(score, dict) else vars(score)
    if figures["value"] is None:
        return "-"
    return f"{figures['value']:.2f} ({figures['low']:.2f}-{figures['high']:.2f})"
