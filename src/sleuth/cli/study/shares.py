"""`sleuth study shares`: how common each label is in a corpus, corrected for what the classifier gets wrong."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.study.classify.model_file import Trained
    from sleuth.study.classify.shares import Share

SUMMARY = "how common each label is in a corpus: guesses corrected for the classifier's errors, with intervals"

WAYS = ("auto", "drawn", "shifted")

_EXAMPLES = """\
examples:
  sleuth study classify --labels labels.jsonl --texts howto --sample sample.json --train-to kinds.npz
  sleuth study shares howto --classifier kinds.npz           the corpus that the sample was drawn from
  sleuth study shares another --classifier kinds.npz         another one, with other shares

Counting guesses is biased: a label that the model often misses looks rarer than it is. The model file remembers how
the labelled posts were guessed by models that had not seen them, and that is used to undo it.
ways:
  drawn     the labelled posts are a random sample of this corpus: a guess means here what it means there
  shifted   labels may be more or less common here, but posts of one label are guessed alike in both
  auto      drawn, if the model was trained with --sample on this very corpus; else shifted (default)
Intervals hold what the two samples leave open. They do not cover labels that are wrong, or posts of another sort.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("corpus", metavar="CORPUS", help="what `sleuth study ingest` or `select` wrote")
    parser.add_argument(
        "--classifier", required=True, metavar="MODEL", help="what `sleuth study classify --train-to` wrote"
    )
    parser.add_argument("--way", choices=WAYS, default="auto", help="how to correct (default: auto)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the intervals (default: 0.95)")
    parser.add_argument("--resamples", type=int, default=1000, metavar="N", help="of the bootstrap (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the bootstrap (default: 0)")
    parser.add_argument("--embeddings", metavar="FILE", help="remember MiniLM's embeddings in this file")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to write it (default: text)")


def execute(args: Namespace) -> int:
    from sleuth.cli.study import need

    need("study", "sklearn")
    if not 0 < args.confidence < 1:
        raise Refusal(f"--confidence {args.confidence:g}: it lies between 0 and 1, as 0.95 does")
    if args.resamples < 100:
        raise Refusal(f"--resamples {args.resamples}: an interval takes at least 100")
    from sleuth.study.classify.minilm import NoMiniLM
    from sleuth.study.classify.model_file import NotAModel
    from sleuth.study.classify.texts import NoTexts
    from sleuth.study.corpus import NotACorpus

    try:
        return _shares(args)
    except (NoMiniLM, NotAModel, NoTexts, NotACorpus) as error:
        raise Refusal(str(error)) from None


def _shares(args: Namespace) -> int:
    import json

    import numpy as np

    from sleuth.cli import streams
    from sleuth.cli.study.classify import embedder
    from sleuth.study.classify.model_file import load
    from sleuth.study.classify.shares import shares

    trained = load(args.classifier, embedder(args.embeddings))
    way = _way(args, trained)
    counts = _counted(args.corpus, trained)
    found = shares(
        trained.held_out,
        counts,
        way=way,
        strata=np.array(trained.strata),
        confidence=args.confidence,
        resamples=args.resamples,
        seed=args.seed,
    )
    data = _data(args, trained, way, round(counts.sum()), found)
    streams.show(json.dumps(data, indent=1) + "\n" if args.format == "json" else _text(data))
    return 0


def _way(args: Namespace, trained: Trained) -> Any:
    from sleuth.study.classify.texts import fingerprint

    if args.way != "auto":
        return args.way
    drawn_from = trained.about.get("drawn_from")
    return "drawn" if drawn_from is not None and drawn_from == fingerprint(args.corpus) else "shifted"


def _counted(corpus: str, trained: Trained) -> Any:
    from sleuth.cli.progress import Progress
    from sleuth.study.classify.apply import count_guesses

    with Progress("posts", rate=True) as progress:
        counts = count_guesses(trained, corpus, progress)
    if counts.sum() == 0:
        raise Refusal(f"{corpus} has no posts to count")
    return counts


def _data(args: Namespace, trained: Trained, way: str, posts: int, found: tuple[Share, ...]) -> dict[str, Any]:
    return {
        "corpus": args.corpus,
        "posts": posts,
        "model": trained.name,
        "labelled": len(trained.held_out.truth),
        "way": way,
        "confidence": args.confidence,
        "shares": [vars(share) for share in found],
    }


def _text(data: dict[str, Any]) -> str:
    wide = max(5, *(len(share["label"]) for share in data["shares"]))
    interval = f"{data['confidence']:.0%} interval"
    lines = [
        f"{data['posts']:,} posts; the {data['model']} model learnt from {data['labelled']:,} labelled ones",
        "",
        f"{'label':{wide}}  corrected  {interval:>15}  counted  labelled",
    ]
    for share in sorted(data["shares"], key=lambda share: -share["corrected"]):
        between = f"{share['low']:.1%} - {share['high']:.1%}"
        lines.append(
            f"{share['label']:{wide}}  {share['corrected']:>9.1%}  {between:>15}  {share['counted']:>7.1%}"
            f"  {share['labelled']:>8.1%}"
        )
    why = {
        "drawn": "Labelled posts are a random sample of these: a guess means here what it means there.",
        "shifted": "Labels may be more or less common here; posts of one label are taken to be guessed alike.",
    }
    return "\n".join([*lines, "", why[data["way"]], ""])
