"""`sleuth study agreement`: how far raters agree beyond chance, and what they should talk about."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from typing import Any

    from sleuth.study.label.agreement import Agreement, Ratings
    from sleuth.study.label.disagreements import Disagreement
    from sleuth.study.label.store import Labels

SUMMARY = (
    "Cohen's and Fleiss' kappa and Krippendorff's alpha with intervals, per round and label, and the disagreements"
)

_EXAMPLES = """\
examples:
  sleuth study agreement labels.jsonl
  sleuth study agreement labels.jsonl --disagreements --corpus howto     with the titles, to talk them over
  sleuth study agreement labels.jsonl --codebook taxonomy --outermost    the phases alone
  sleuth study agreement labels.csv --codebook humbatova.tag --merge 'no fault=false positive,generic,unclear,-' \\
      --rest fault                                                       is it a fault at all?
  sleuth study agreement labels.jsonl --format json

LABELS is a labels.jsonl, or a CSV with the columns key, scheme, label and rater. Labels by `final`, which were settled
between raters, are left out unless --raters names it.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("labels", metavar="LABELS", help="what `sleuth study label` wrote, or a CSV")
    parser.add_argument("--codebook", metavar="NAME", help="only labels of this codebook (default: of each, by itself)")
    parser.add_argument("--round", type=int, metavar="N", help="only this round (default: each by itself)")
    parser.add_argument("--raters", metavar="A,B", help="only these raters")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to write it (default: text)")
    what = parser.add_argument_group("what counts as the same")
    what.add_argument("--outermost", action="store_true", help="compare the outermost labels of the codebook only")
    what.add_argument(
        "--merge", action="append", default=[], metavar="NAME=A,B", help="count these labels as one; may be repeated"
    )
    what.add_argument("--rest", metavar="NAME", help="count all labels that --merge does not name as one, called NAME")
    talk = parser.add_argument_group("disagreements")
    talk.add_argument("--disagreements", action="store_true", help="list the posts that raters labelled differently")
    talk.add_argument("--corpus", metavar="DIR", help="where the titles of the posts are")
    interval = parser.add_argument_group("intervals")
    interval.add_argument(
        "--confidence", type=float, default=0.95, metavar="C", help="of the intervals (default: 0.95)"
    )
    interval.add_argument("--seed", type=int, default=0, metavar="N", help="of the bootstrap (default: 0)")
    interval.add_argument("--resamples", type=int, default=2000, metavar="N", help="of the bootstrap (default: 2000)")


def execute(args: Namespace) -> int:
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.label.codebook import BadCodebook
    from sleuth.study.label.store import NotLabels

    try:
        return _agreement(args)
    except (NotLabels, NotACorpus, BadCodebook) as error:
        raise Refusal(str(error)) from None


def _agreement(args: Namespace) -> int:
    from sleuth.cli import streams
    from sleuth.cli.study.agreement_told import as_text, listed
    from sleuth.study.label.agreement import measure
    from sleuth.study.label.coefficients import Bootstrap
    from sleuth.study.label.store import read_labels

    if not 0 < args.confidence < 1:
        raise Refusal(f"--confidence {args.confidence:g}: it lies between 0 and 1, as 0.95 does")
    labels = read_labels(args.labels)
    compared = _compared(args, labels)
    bootstrap = Bootstrap(args.seed, args.confidence, max(0, args.resamples))
    measured = [measure(ratings, bootstrap) for ratings in compared]
    differing = _disagreements(args, compared) if args.disagreements else None
    if args.format == "json":
        return _show_json(measured, differing, labels.torn)
    if labels.torn:
        lines = "1 line" if labels.torn == 1 else f"{labels.torn} lines"
        streams.complain(f"{lines} of {args.labels} cut off in the middle, and left out")
    _tell_of_strangers(labels)
    for one in measured:
        streams.show(as_text(one))
    if differing is not None:
        streams.show(listed(differing))
    return 0


def _tell_of_strangers(labels: Labels) -> None:
    """A label that its codebook does not have is a slip of the hand, and counts as a disagreement."""
    from sleuth.cli import streams
    from sleuth.study.label.codebook import codebook_names, load_codebook

    for name in sorted({label.codebook for label in labels} & set(codebook_names())):
        codebook = load_codebook(name)
        strangers = sorted({label.label or "" for label in labels if label.codebook == name} - set(codebook.names))
        if strangers:
            streams.complain(f"the codebook {name} has no label {', '.join(map(repr, strangers))}")


def _compared(args: Namespace, labels: Labels) -> list[Ratings]:
    """What to compare. Refuses where there is nothing."""
    from sleuth.study.label.agreement import rounds

    raters = tuple(name.strip() for name in (args.raters or "").split(",") if name.strip())
    known = {label.rater for label in labels}
    for name in raters:
        if name not in known:
            raise Refusal(f"there is no rater {name!r} in {args.labels}; there are {', '.join(sorted(known))}")
    found = rounds(labels, args.codebook, raters, _reading(args))
    found = [ratings for ratings in found if args.round in (None, ratings.round) and ratings.said]
    if not found:
        names = sorted({label.codebook for label in labels})
        if args.codebook is not None and args.codebook not in names:
            raise Refusal(f"{args.labels} has no labels of {args.codebook}; it has {', '.join(names) or 'none at all'}")
        raise Refusal(f"no post in {args.labels} was labelled by two raters in the same round")
    return found


def _reading(args: Namespace) -> Callable[[str], str]:
    """What a label counts as."""
    if args.outermost:
        return _outermost(args.codebook)
    if args.rest is not None and not args.merge:
        raise Refusal("--rest is for what --merge leaves; give both")
    merged: dict[str, str] = {}
    for asked in args.merge:
        name, equals, members = asked.partition("=")
        if not equals or not name:
            raise Refusal(f"--merge {asked}: say NAME=LABEL,LABEL")
        merged |= {member.strip(): name for member in members.split(",")}
    return lambda label: merged.get(label, args.rest or label)


def _outermost(name: str | None) -> Callable[[str], str]:
    from sleuth.study.label.codebook import load_codebook

    if name is None:
        raise Refusal("--outermost needs the --codebook whose labels lie within each other")
    codebook = load_codebook(name)
    return lambda label: codebook.top(label) if label in codebook else label


def _disagreements(args: Namespace, compared: list[Ratings]) -> list[Disagreement]:
    from sleuth.study.corpus import open_corpus
    from sleuth.study.label.disagreements import disagreements, titles_of

    titles: dict[str, str] = {}
    if args.corpus is not None:
        titles = titles_of(open_corpus(args.corpus), {key for ratings in compared for key in ratings.said})
    return [post for ratings in compared for post in disagreements(ratings, titles)]


def _show_json(measured: list[Agreement], differing: list[Disagreement] | None, torn: int) -> int:
    import json
    from dataclasses import asdict

    from sleuth.cli import streams

    rounds = []
    for one in measured:
        data = asdict(one)
        for pair, of in zip(data["pairs"], one.pairs, strict=True):
            cells = sorted(of.confusion.items())
            pair["confusion"] = [{"first": a, "second": b, "posts": times} for (a, b), times in cells]
        rounds.append(data)
    told: dict[str, Any] = {"schema": 1, "torn": torn, "rounds": rounds}
    if differing is not None:
        told["disagreements"] = [{**asdict(post), "between": post.between} for post in differing]
    streams.show(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    return 0
