"""The model of `sleuth ask`: trains it, and measures it beside the models of `sleuth study classify`.

`python benchmarks/triage --labelled FOLDER` cross-validates on the posts that are not for the test and writes
`src/sleuth/triage/model.json`. With `--test` it trains nothing that ships, and measures on the test third, which
nothing before has looked at. The texts stay where they are: `--labelled` is a folder with texts.jsonl."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from scipy.sparse import vstack
from scipy.special import softmax
from sklearn.model_selection import StratifiedKFold

from sleuth import triage
from sleuth.study.classify.choose import sharpness
from sleuth.study.classify.evaluate import Evaluation, HeldOut, evaluate
from sleuth.study.classify.minilm import Embedder
from sleuth.study.classify.models import maker
from sleuth.study.label.coefficients import cohen
from sleuth.triage import KINDS
from sleuth.triage import model as shipped
from triage.learn import Student, Terms
from triage.posts import TESTED_ROUND, Post, labelled, texts

Array = Any

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "src" / "sleuth" / "triage" / "model.json"
RESULT = ROOT / "benchmarks" / "results" / "ask_model.json"
FOLDS = 5
# What `sleuth study classify` offers. Embedding texts takes long, so these learn from the posts drawn at random alone.
RIVALS = ("keywords", "linear", "minilm", "both")
AT_RANDOM = ("pilot", TESTED_ROUND, "extra")
_ORDER = tuple(sorted(KINDS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, required=True, metavar="FOLDER", help="the folder of texts.jsonl")
    parser.add_argument("--test", action="store_true", help="measure on the test third")
    parser.add_argument("--ships-alone", action="store_true", help="with --test: what ships, and no rival")
    parser.add_argument("--store", type=Path, metavar="FILE", help="where to remember embeddings of MiniLM")
    options = parser.parse_args()
    posts = labelled(options.labelled)
    learnt = [post for post in posts if not post.for_test and post.kind in KINDS]
    if options.test:
        rivals = () if options.ships_alone else RIVALS
        said = {"test third": tested([post for post in posts if post.for_test], learnt, rivals, options.store)}
    else:
        said = trained(posts, learnt, [f"{title}\n\n{body}".strip() for _, title, body in texts(options.labelled)])
    earlier = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    if options.test and options.ships_alone:
        said["test third"] = earlier.get("test third", {}) | said["test third"]
    RESULT.write_text(json.dumps(earlier | said, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(said, indent=1))


def trained(posts: Sequence[Post], learnt: Sequence[Post], corpus: Sequence[str]) -> dict[str, Any]:
    """Cross-validates, calibrates on what the folds held out, trains on everything and writes the model."""
    held = {post.key for post in posts if post.for_test}
    corpus = [text for text in corpus if text not in {post.text for post in posts if post.key in held}]
    terms = Terms(corpus)
    views = Views(terms.weigh([post.text for post in learnt]), terms.weigh([post.short for post in learnt]))
    kinds = np.array([post.kind for post in learnt])
    scores, short = held_out(views, kinds)
    truth = np.array([_ORDER.index(kind) for kind in kinds])
    factor = sharpness(np.vstack([scores, short]), np.concatenate([truth, truth]))
    numbers = Student().fit(views.both(slice(None)), np.tile(kinds, 2)).numbers(terms, factor)
    MODEL.write_text(json.dumps(numbers) + "\n", encoding="utf-8")
    chosen = {
        "whole posts, all rounds": np.ones(len(learnt), bool),
        "whole posts, drawn at random": np.array([post.round in AT_RANDOM for post in learnt]),
        "whole posts, read twice": np.array([post.round == TESTED_ROUND for post in learnt]),
    }
    said = {name: _said(evaluate(_held(scores[which] * factor, truth[which]))) for name, which in chosen.items()}
    random_ones = chosen["whole posts, drawn at random"]
    said["titles alone, drawn at random"] = _said(evaluate(_held(short[random_ones] * factor, truth[random_ones])))
    return {
        "agreement": {name: _agreement(posts, name) for name in ("pilot", TESTED_ROUND)},
        "learnt from": {"posts": len(learnt), "kinds": dict(Counter(str(post.kind) for post in learnt))},
        "model": {"terms": numbers["terms"].count("\n") + 1, "bytes": MODEL.stat().st_size},
        "cross-validated": said,
        "sure": _coverage(softmax(scores[random_ones] * factor, axis=1), truth[random_ones]),
    }


class Views:
    """Every post is learnt twice, whole and by its title alone: people ask in both ways."""

    def __init__(self, whole: Array, short: Array) -> None:
        self.whole, self.short = whole, short

    def both(self, rows: Any) -> Array:
        return vstack([self.whole[rows], self.short[rows]]).tocsr()


def held_out(views: Views, kinds: Array) -> tuple[Array, Array]:
    """Scores of every post, whole and by title, from a model that has not seen it."""
    whole, short = np.zeros((len(kinds), len(KINDS))), np.zeros((len(kinds), len(KINDS)))
    for learn, held in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(kinds, kinds):
        student = Student().fit(views.both(learn), np.tile(kinds[learn], 2))
        whole[held], short[held] = student.scores(views.whole[held]), student.scores(views.short[held])
        print("a fold done", flush=True)
    return whole, short


def tested(test: Sequence[Post], learnt: Sequence[Post], rivals: Sequence[str], store: Path | None) -> dict[str, Any]:
    """What ships and its rivals on posts that nothing has looked at before."""
    agreed = [post for post in test if post.kind in KINDS]
    truth = np.array([_ORDER.index(post.kind or "") for post in agreed])
    read = {"whole": [post.text for post in agreed], "title": [post.short for post in agreed]}
    said: dict[str, Any] = {"posts": len(agreed), "not of one kind, or other": len(test) - len(agreed)}
    for view, asked in read.items():
        answers = [triage.ask(text) for text in asked]
        said[f"sleuth ask, {view}"] = _said(evaluate(_held(_table([each.probabilities for each in answers]), truth)))
        said[f"sleuth ask, {view}"]["answered"] = _answered([each.kind for each in answers], agreed)
        said[f"shipped model, {view}"] = _said(evaluate(_held(_table([shipped.kinds(text) for text in asked]), truth)))
    others = [post for post in test if set(post.kinds.values()) == {"other"}]
    said["other posts that got no kind"] = f"{sum(triage.ask(p.text).kind is None for p in others)} of {len(others)}"
    drawn = [post for post in learnt if post.round in AT_RANDOM]
    for name in rivals:
        model = maker(name, Embedder(store), "kinds")()
        model.fit([post.text for post in drawn], [str(post.kind) for post in drawn])
        said[f"{name}, whole"] = _said(evaluate(_held(model.predict_proba(read["whole"]), truth)))
        print(name, said[f"{name}, whole"]["macro-F1"], flush=True)
    return said


def _table(rows: Sequence[dict[str, float]]) -> Array:
    return np.log(np.array([[row[kind] for kind in _ORDER] for row in rows]) + 1e-12)


def _held(scores: Array, truth: Array) -> HeldOut:
    return HeldOut(_ORDER, truth, scores[None], np.ones(len(truth)))


def _said(found: Evaluation) -> dict[str, Any]:
    def interval(score: Any) -> list[float]:
        return [round(score.value, 3), round(score.low, 3), round(score.high, 3)]

    return {
        "posts": found.posts,
        "accuracy": interval(found.accuracy),
        "macro-F1": interval(found.macro_f1),
        "majority": [round(found.majority_accuracy, 3), round(found.majority_macro_f1, 3)],
        "by kind": {
            each.label: [each.posts, round(each.precision, 3), round(each.recall, 3)] for each in found.of_classes
        },
        "matrix": [[int(cell) for cell in row] for row in found.matrix],
    }


def _answered(guesses: Sequence[str | None], posts: Sequence[Post]) -> dict[str, Any]:
    sure = [(guess, post.kind) for guess, post in zip(guesses, posts, strict=True) if guess]
    return {"share": round(len(sure) / len(posts), 3), "right": round(sum(g == k for g, k in sure) / len(sure), 3)}


def _coverage(probabilities: Array, truth: Array) -> list[list[float]]:
    """For thresholds of being sure: which share of posts gets an answer, and which share of the answers is right."""
    best, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    return [
        [level, round(float((best >= level).mean()), 3), round(float(right[best >= level].mean()), 3)]
        for level in (0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
    ]


def _agreement(posts: Sequence[Post], name: str) -> dict[str, Any]:
    labels = {label: number for number, label in enumerate((*KINDS, "other"))}
    units = [[labels[kind] for _, kind in sorted(post.kinds.items())] for post in posts if post.round == name]
    kappa = cohen(units)
    return {"posts": kappa.units, "kappa": [round(float(x or 0), 3) for x in (kappa.value, kappa.low, kappa.high)]}


if __name__ == "__main__":
    main()
