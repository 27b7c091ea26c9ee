"""Which array of one file is which of the other: the same numbers, whatever their layout, then the same names."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sleuth.compare.values import Array, in_float64
from sleuth.compare.weights.changes import Change, arranged, changes, changes_of_joined
from sleuth.compare.weights.cutting import Cut, pieces
from sleuth.compare.weights.folding import Fold, folds
from sleuth.compare.weights.regrouping import regroupings
from sleuth.compare.weights.rounding import rounding

_SAMPLE = 4096
_MOST_PARTS = 4


@dataclass(frozen=True, slots=True)
class Match:
    """An array of the second file made of one or more of the first, joined along the first axis or added up, or of a
    piece of one. `parts`: what is done to each before they are joined along the axis that `cut` names. `fold`: it is
    weight or bias of a layer with its normalisation folded in."""

    name: str
    sources: tuple[str, ...]
    change: Change
    how: Literal["same", "rounded", "joined", "added", "cut", "folded", "differs"]
    off: float = 0.0
    cut: Cut | None = None
    parts: tuple[Change, ...] = ()
    fold: Fold | None = None


@dataclass(slots=True)
class Matching:
    """`missing` are arrays of the first file that the second has no use for, `extra` those it has of its own.

    `counters` are of the second, too, but no weights: they count batches and change nothing that is computed.
    `unfolded`: layers of the first that the second keeps apart from their normalisations, which nothing can make."""

    matches: list[Match] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    unfolded: list[Fold] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return not self.missing and not self.extra and all(match.how != "differs" for match in self.matches)


def match(first: Mapping[str, Array], second: Mapping[str, Array]) -> Matching:
    """By numbers where they tell; by name and order where many arrays hold the same numbers, or other ones."""
    table = _Table(first, second)
    table.by_numbers()
    table.by_folding()
    table.by_composition()
    table.by_cutting()
    table.by_sharing()
    table.by_name()
    found = sorted(table.found.values(), key=lambda one: list(second).index(one.name))
    apart = {name for fold in table.unfolded for name in fold.sources}
    extra = [name for name in second if name not in table.found and name not in apart]
    return Matching(
        found,
        [name for name in table.unused() if not _counts(name)],
        [name for name in extra if not _counts(name)],
        [name for name in extra if _counts(name)],
        table.unfolded,
    )


def _counts(name: str) -> bool:
    """PyTorch's batch normalisation counts its batches; nobody else does, and with a momentum nobody reads it."""
    return name.endswith("num_batches_tracked")


class _Table:
    def __init__(self, first: Mapping[str, Array], second: Mapping[str, Array]) -> None:
        self._first = {name: in_float64(array) for name, array in first.items()}
        self._second = {name: in_float64(array) for name, array in second.items()}
        self._names = {name: place for place, name in enumerate(first)}
        self.found: dict[str, Match] = {}
        self.unfolded: list[Fold] = []
        self._used: set[str] = set()

    def by_numbers(self) -> None:
        for name, array in self._second.items():
            candidates = [source for source in self._open() if self._first[source].size == array.size]
            fitting = [one for source in candidates if (one := _alike(source, self._first[source], name, array))]
            if fitting:
                self._take(
                    max(
                        fitting,
                        key=lambda one: (
                            one.how == "same",
                            _likeness(one.sources[0], name),
                            -self._names[one.sources[0]],
                        ),
                    )
                )

    def by_folding(self) -> None:
        """Batch normalisation that one of the two has folded into the layer before."""
        for fold in list(folds(self._first, self._open(), self._left(), self._left(constant=True), _numbers_alike)):
            for name, change in ((fold.folded_weight, fold.change), (fold.folded_bias, Change())):
                self._take(Match(name, fold.sources, change, "folded", fold.off, fold=fold))
        for fold in folds(self._second, list(self._left()), self._open_arrays(), self._first, _numbers_alike):
            self.unfolded.append(fold)
            self._used.update((fold.folded_weight, fold.folded_bias))
            for name in fold.sources:
                self.found.pop(name, None)

    def _left(self, constant: bool = False) -> dict[str, Array]:
        """Of the second file; with those, if wanted, that any zeros or ones would have matched."""
        return {
            name: array
            for name, array in self._second.items()
            if name not in self.found or (constant and _constant(array))
        }

    def _open_arrays(self) -> dict[str, Array]:
        return {name: self._first[name] for name in self._open()}

    def by_composition(self) -> None:
        """A fused projection is joined of several; the one bias of Keras's LSTM is the sum of PyTorch's two."""
        for name, array in self._second.items():
            if name not in self.found and (made := self._composed(name, array) or self._joined(name, array)):
                self._take(made)

    def by_cutting(self) -> None:
        """What the first file keeps fused and the second apart."""
        for source in self._open():
            left = self._left()
            for name, cut, piece in pieces(self._first[source], left, _numbers_alike):
                self._take(Match(name, (source,), piece.change, "cut", piece.off, cut))

    def by_sharing(self) -> None:
        """Weights that two layers share are often kept once only."""
        for name, array in self._second.items():
            if name not in self.found and not _constant(array):
                alike = (_alike(source, self._first[source], name, array) for source in sorted(self._used))
                if (one := next((one for one in alike if one is not None), None)) is not None:
                    self._take(one)

    def unused(self) -> Iterator[str]:
        """Of the first file, but for a second copy of what is used."""
        kept = [self._first[name] for name in self._used]
        for name in self._open():
            array = self._first[name]
            if _constant(array) or not any(np.array_equal(array, one) for one in kept):
                yield name

    def by_name(self) -> None:
        """What is left has other numbers: those of the same size with the most similar names belong together."""
        left = list(self._left())
        pairs = sorted(
            (
                (_likeness(source, name), source, name)
                for name in left
                for source in self._open()
                if self._first[source].size == self._second[name].size and self._second[name].size
            ),
            reverse=True,
        )
        for likeness, source, name in pairs:
            if likeness >= 0.5 and source not in self._used and name not in self.found:
                self._take(_nearest(source, self._first[source], name, self._second[name]))

    def _open(self) -> list[str]:
        return [name for name in self._first if name not in self._used]

    def _take(self, one: Match) -> None:
        self.found[one.name] = one
        self._used.update(one.sources)

    def _composed(self, name: str, array: Array) -> Match | None:
        for sources in self._groups(array):
            parts = [self._first[source] for source in sources]
            joined = np.concatenate(parts) if all(part.shape[1:] == parts[0].shape[1:] for part in parts) else None
            if joined is not None and joined.size == array.size:
                more = changes_of_joined(len(parts), joined.shape, array.shape)
                one = _alike("", joined, name, array, more if _equal(parts) else ())
                if one is not None:
                    return Match(name, sources, one.change, "joined")
            if len(parts) == 2 and parts[0].shape == parts[1].shape and parts[0].size == array.size:
                one = _alike("", parts[0] + parts[1], name, array)
                if one is not None:
                    return Match(name, sources, one.change, "added")
        return None

    def _joined(self, name: str, array: Array) -> Match | None:
        """Of arrays anywhere in the first file, each in a layout of its own."""
        found = pieces(array, self._open_arrays(), lambda piece, source: _numbers_alike(source, piece), keep_axis=True)
        if not found:
            return None
        sources, cuts, parts = zip(*found, strict=True)
        return Match(name, sources, Change(), "joined", cut=cuts[0], parts=tuple(part.change for part in parts))

    def _groups(self, array: Array) -> Iterator[tuple[str, ...]]:
        """Neighbours in the first file: nobody tears apart what belongs together."""
        names = self._open()
        for start in range(len(names)):
            for count in range(2, _MOST_PARTS + 1):
                for step in (1, 2):
                    group = tuple(names[start : start + count * step : step])
                    if len(group) == count and all(self._first[one].ndim for one in group):
                        yield group


def _alike(source: str, ours: Array, name: str, theirs: Array, more: Iterable[Change] = ()) -> Match | None:
    """The same numbers in some layout, exactly or as a narrower type keeps them."""
    if ours.size != theirs.size:
        return None
    scale = float(np.abs(theirs).max()) if theirs.size else 0.0
    rounded = rounding(ours, theirs)
    if not _same_numbers(ours, theirs, scale * rounded):
        return None
    regrouped = regroupings(ours, theirs, scale * rounded)
    for change in itertools.chain(changes(ours.shape, theirs.shape), more, regrouped):
        laid_out = change(ours)
        if laid_out.shape != theirs.shape:
            continue
        if _apart(laid_out.ravel()[:_SAMPLE], theirs.ravel()[:_SAMPLE], scale) <= rounded:
            off = _apart(laid_out, theirs, scale)
            if off <= rounded:
                return Match(name, (source,), change, "same" if off <= 1e-7 else "rounded", off)
    return None


def _numbers_alike(ours: Array, theirs: Array) -> Match | None:
    return _alike("", ours, "", theirs)


def _same_numbers(ours: Array, theirs: Array, apart: float) -> bool:
    """What does not depend on the layout is the same: a quick look that spares trying every layout."""
    return bool(np.abs(_moments(ours) - _moments(theirs)).max() <= apart + 1e-12 * np.abs(_moments(theirs)).max())


def _moments(array: Array) -> Array:
    if not array.size:
        return np.zeros(5)
    return np.array([array.mean(), np.abs(array).mean(), np.sqrt(np.mean(array**2)), array.min(), array.max()])


def _constant(array: Array) -> bool:
    """Ones and zeros are alike without being the same weight."""
    return not array.size or bool(array.min() == array.max())


def _equal(parts: list[Array]) -> bool:
    return all(part.shape == parts[0].shape for part in parts)


def _nearest(source: str, ours: Array, name: str, theirs: Array) -> Match:
    """With other numbers the layout can only be told by the shapes."""
    scale = float(np.abs(theirs).max()) or 1.0
    fitting = arranged(ours.shape, theirs.shape, flips=False)
    best = min(fitting, key=lambda change: _apart(change(ours), theirs, scale))
    return Match(name, (source,), best, "differs", _apart(best(ours), theirs, scale))


def _apart(one: Array, other: Array, scale: float) -> float:
    return float(np.abs(one - other).max()) / scale if scale and one.size else float(np.abs(one).max(initial=0.0) > 0)


def _likeness(one: str, other: str) -> float:
    """Of two names as paths: `encoder.0.weight` and `encoder/0/kernel`."""
    return difflib.SequenceMatcher(None, _plain(one), _plain(other)).ratio()


def _plain(name: str) -> str:
    plain = name.lower().replace("/", ".").replace(":0", "")
    for words in (
        ("kernel", "weight"),
        ("gamma", "weight"),
        ("beta", "bias"),
        ("moving_", "running_"),
        ("variance", "var"),
    ):
        plain = plain.replace(*words)
    return plain
