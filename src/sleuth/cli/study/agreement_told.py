"""Agreement between raters, as text."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from sleuth.cli.study.columns import aligned, number, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.study.label.agreement import Agreement, OfPair
    from sleuth.study.label.coefficients import Estimate
    from sleuth.study.label.disagreements import Disagreement

_MOST_LABELS = 30
_MOST_CONFUSIONS = 10
# A wider matrix than this does not fit on a screen.
_WIDEST_MATRIX = 12


def as_text(one: Agreement) -> str:
    """One round: the coefficients, rater by rater, label by label, and what is taken for what."""
    who = f"{len(one.raters)} raters ({', '.join(one.raters)})"
    posts = "1 post" if one.posts == 1 else f"{one.posts:,} posts"
    text = f"{one.codebook}, round {one.round}: {posts}, {who}\n\n" + _coefficients(one)
    if len(one.pairs) > 1:
        pairs = [(" and ".join(pair.raters), *_cells(pair.kappa), percent(pair.agree)) for pair in one.pairs]
        text += "\n" + aligned(("Cohen's kappa of", "value", "from", "to", "posts", "agree"), pairs)
    text += "\n" + _labels(one)
    if len(one.pairs) == 1 and len(one.labels) <= _WIDEST_MATRIX:
        return text + "\n" + _matrix(one.pairs[0], [of.label for of in one.labels]) + "\n"
    return text + _confusions(one) + "\n"


def _coefficients(one: Agreement) -> str:
    rows = [("Krippendorff's alpha", *_cells(one.alpha))]
    if one.cohen is not None:
        rows.insert(0, ("Cohen's kappa", *_cells(one.cohen)))
    if one.fleiss.units:
        rows.append((f"Fleiss' kappa of {one.fleiss_raters} raters", *_cells(one.fleiss)))
    text = aligned(("", "value", "from", "to", "posts"), rows)
    text += f"\n  {percent(one.agree)} of pairs agree"
    if one.agree_with_seconds is not None:
        text += f", {percent(one.agree_with_seconds)} if second choices count"
    return text + "\n"


def _cells(estimate: Estimate) -> tuple[str, str, str, str]:
    return number(estimate.value), number(estimate.low), number(estimate.high), f"{estimate.units:,}"


def _labels(one: Agreement) -> str:
    usual = sorted(one.labels, key=lambda of: (-of.given, of.label))
    rows = [(of.label, str(of.given), percent(of.agree), *_cells(of.alpha)[:3]) for of in usual[:_MOST_LABELS]]
    text = aligned(("label", "given", "agree", "alpha", "from", "to"), rows)
    if len(usual) > _MOST_LABELS:
        text += f"  and {len(usual) - _MOST_LABELS} more, given less often; --format json has them all\n"
    return text


def _matrix(pair: OfPair, labels: list[str]) -> str:
    """What the second rater said where the first said this."""
    header = (f"{pair.raters[0]} \\ {pair.raters[1]}", *labels)
    cells = [[pair.confusion.get((first, second), 0) for second in labels] for first in labels]
    return aligned(header, [(label, *map(str, row)) for label, row in zip(labels, cells, strict=True)])


def _confusions(one: Agreement) -> str:
    """The pairs of labels that are taken for each other most often, whoever gave which."""
    counts: Counter[tuple[str, str]] = Counter()
    for pair in one.pairs:
        for (first, second), times in pair.confusion.items():
            if first != second:
                counts[min(first, second), max(first, second)] += times
    if not counts:
        return ""
    usual = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_CONFUSIONS]
    rows = [(first, second, str(times)) for (first, second), times in usual]
    return "\n" + aligned(("most often confused", "with", "times"), rows, words=2)


def listed(differing: list[Disagreement]) -> str:
    """The posts to talk over, those with the same confusion together."""
    if not differing:
        return "No post was labelled differently.\n"
    text = f"{len(differing):,} disagreement{'s' * (len(differing) > 1)}\n"
    for (codebook, round, between), posts in groupby(differing, lambda post: (post.codebook, post.round, post.between)):
        text += f"\n{' | '.join(between)}  ({codebook}, round {round})\n"
        text += "".join(map(_one, posts))
    return text


def _one(post: Disagreement) -> str:
    said = ", ".join(
        f"{label.rater}: {label.label}" + (f" (or {label.second})" if label.second else "") for label in post.said
    )
    return f"  {post.key}  {post.title}\n      {said}\n" if post.title else f"  {post.key}  {said}\n"
