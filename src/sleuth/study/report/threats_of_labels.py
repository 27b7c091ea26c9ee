"""Threats that come from the labels: who gave them, to which posts, and how well they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sleuth.study.label.sizes import margin_of
from sleuth.study.report.content import Threat
from sleuth.study.report.known import Known
from sleuth.study.report.numbers import count, percent
from sleuth.study.report.weights import are_unequal, largest_shift

# Landis and Koch call agreement above this substantial; below it a category means different things to its raters.
_SUBSTANTIAL = 0.6
# Weights that move no label by more than this, in percent of posts, are within rounding.
_NOTABLE = 1.0


def _raters(known: Known) -> Iterator[Threat]:
    alone = [rated for rated in known.rated if len(rated.independent) == 1 and not rated.settled]
    settled = [rated for rated in known.rated if not rated.independent]
    if alone:
        yield Threat(
            "One rater only",
            f"{_schemes(rated.scheme for rated in alone)}: nobody has checked these labels, and how far another "
            "person would agree is not known.",
            "grave",
        )
    if settled:
        yield Threat(
            "Only settled labels",
            f"{_schemes(rated.scheme for rated in settled)}: the raters' own labels are not in the file, so their "
            "agreement cannot be computed here.",
        )
    for rated in known.rated:
        if len(rated.independent) > 1 and rated.by_several < rated.posts:
            yield Threat(
                f"{percent(rated.posts - rated.by_several, rated.posts)} of the posts labelled by one rater",
                f"{rated.scheme}: agreement is that of the {count(rated.by_several, 'post')} which two or more read.",
            )


def _agreement(known: Known) -> Iterator[Threat]:
    last = {agreement.codebook: agreement for agreement in known.agreements}
    for codebook, agreement in last.items():
        alpha = agreement.alpha
        if alpha.value is not None and alpha.value < _SUBSTANTIAL:
            yield Threat(
                f"Raters agree little on {codebook}",
                f"Krippendorff's alpha is {alpha.value:.2f} in round {agreement.round} "
                f"({count(agreement.posts, 'post')}); below {_SUBSTANTIAL} the shares of single labels depend on who "
                "read the posts.",
                "grave",
            )


def _disputed(known: Known) -> Iterator[Threat]:
    for scheme, posts in sorted((known.disputed or {}).items()):
        labelled = next((rated.posts for rated in known.rated if rated.scheme == scheme), 0)
        if labelled:
            yield Threat(
                f"{count(posts, 'disputed post')} left out",
                f"{scheme}: {percent(posts, labelled)} of the labelled posts are in no figure, since their raters "
                "differ and nobody has settled it. Disputed posts are rarely like the others.",
                "grave" if posts > 0.1 * labelled else "minor",
            )


def _coverage(known: Known) -> Iterator[Threat]:
    """Labels on a part of the posts say something about the rest only if the part was drawn at random."""
    if known.sample is not None or not known.subjects:
        return
    part = [rated for rated in known.rated if rated.posts < 0.98 * known.subjects]
    if part:
        told = ", ".join(f"{rated.scheme} {percent(rated.posts, known.subjects)}" for rated in part[:6])
        more = f" and {len(part) - 6} more" if len(part) > 6 else ""
        yield Threat(
            "Labels on a part of the posts",
            f"{told}{more}. No sample was named (--sample FILE), so nothing shows that these posts stand for the "
            "others.",
            "grave",
        )


def _sample(known: Known) -> Iterator[Threat]:
    sample = known.sample
    if sample is None or not sample.posts:
        return
    labelled = len({key for key, _, _ in known.settled} & {post.key for post in sample.posts})
    if labelled < len(sample.posts):
        yield Threat(
            f"{labelled:,} of the {len(sample.posts):,} sampled posts are labelled",
            "The rest of the sample is not read yet, or was left out; if those are the hard ones, shares are biased.",
            "grave" if labelled < 0.9 * len(sample.posts) else "minor",
        )
    if labelled:
        margin = 100 * margin_of(labelled, sample.population)
        yield Threat(
            f"A share is known to within ±{margin:.1f} %",
            f"{count(labelled, 'labelled post')} of a population of {sample.population:,}: at 95 % confidence, for a "
            "share near a half, and for a random sample.",
        )


def _weights(known: Known) -> Iterator[Threat]:
    sample = known.sample
    if sample is None or not are_unequal(sample):
        return
    shift = largest_shift(sample, known.settled)
    if shift is None:
        return
    yield Threat(
        "Shares are not weighted",
        f"The sample is stratified by {sample.by} and its posts stand for different numbers of others, but every post "
        f"counts once here. Weights would move {shift.label} ({shift.scheme}) most, from {shift.unweighted:.1f} % to "
        f"{shift.weighted:.1f} %.",
        "grave" if shift.size > _NOTABLE else "minor",
    )


def _strangers(known: Known) -> Iterator[Threat]:
    if known.strangers:
        yield Threat(
            f"{count(known.strangers, 'label')} of posts that are not in this corpus",
            "They are left out of everything: the labels were made on another corpus, or on an earlier selection.",
        )
    if known.torn:
        yield Threat(
            f"{count(known.torn, 'torn line')} in the labels file",
            "A kill or a power cut left them unfinished; they had not been confirmed to the rater.",
        )


def _schemes(names: Iterator[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")


THREATS: tuple[Callable[[Known], Iterator[Threat]], ...] = (
    _raters,
    _agreement,
    _disputed,
    _coverage,
    _sample,
    _weights,
    _strangers,
)
