"""Every table and figure of the four studies, one module each, found by its name.

A module has `TITLE`; `NEEDS`, out of "posts", "funnel", "labels" (of any codebook, one after the other) and the roles
in `schemes.ROLES`; `STUDIES`, the papers that have such a table; and `analyse(material)`. `KEYS` says how many columns
name a row, where it is not one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Protocol, cast

from sleuth.study.material import ANY, Material
from sleuth.study.published import Study, all_studies, beside
from sleuth.study.result import Result
from sleuth.study.schemes import of_one_source, role_of
from sleuth.study.tables import CannotAnswer

_NOT_LABELS = ("posts", "funnel")


class Analysis(Protocol):
    TITLE: str
    NEEDS: tuple[str, ...]
    STUDIES: tuple[str, ...]

    def analyse(self, material: Material) -> Result: ...


class NoAnalysis(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Skipped:
    """An analysis that the material cannot answer, and why."""

    name: str
    why: str


def analysis_names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def names_for(study: Study | None) -> list[str]:
    """All but those that need nothing of the posts, being about a paper that was not asked for."""
    asked = study.name if study is not None else None
    return [name for name in analysis_names() if (found := load_analysis(name)).NEEDS or asked in found.STUDIES]


def load_analysis(name: str) -> Analysis:
    """Raises NoAnalysis."""
    if name not in analysis_names():
        raise NoAnalysis(f"there is no analysis {name!r}; there are {', '.join(analysis_names())}")
    return cast(Analysis, import_module(f"{__name__}.{name}"))


def run(material: Material, names: Iterable[str] = ()) -> Iterator[Result | Skipped]:
    """These analyses, or all: `popularity` for every codebook that was used, `popularity:phases` for one."""
    for wanted in list(names) or analysis_names():
        name, _, scheme = wanted.partition(":")
        analysis = load_analysis(name)
        missing = _missing(analysis, material)
        choices = [] if missing else [each for each in _choices(analysis, material) if scheme in ("", *each.values())]
        if not choices:
            yield Skipped(wanted, missing or _unfilled(analysis, scheme))
        for chosen in choices:
            yield _one(name, analysis, material.choosing(chosen))


def _one(name: str, analysis: Analysis, material: Material) -> Result | Skipped:
    chosen = material.chosen
    full_name = ":".join((name, *chosen.values()))
    try:
        result = analysis.analyse(material)
    except CannotAnswer as why:
        return Skipped(full_name, str(why))
    about = f" ({', '.join(chosen.values())})" if chosen else ""
    result = replace(result, name=full_name, title=result.title + about)
    role = role_of(chosen[ANY]) if ANY in chosen else next(iter(chosen), None)
    keys = getattr(analysis, "KEYS", 1)
    return beside(result, name, role, _studies(material), keys, asked=material.study is not None)


def _studies(material: Material) -> list[Study]:
    """The study that was asked for; else those whose own labels these are."""
    if material.study is not None:
        return [material.study]
    return [study for study in all_studies() if set(material.chosen.values()) & set(study.own)]


def _missing(analysis: Analysis, material: Material) -> str | None:
    if "posts" in analysis.NEEDS and material.subjects is None:
        return "there are no posts"
    if "funnel" in analysis.NEEDS and not material.funnel:
        return "the corpus was not made by `sleuth study select`, so it has no funnel"
    for role in _roles(analysis):
        if not material.filling(role):
            return "nothing is labelled (--labels FILE)" if role == ANY else f"nothing is labelled by {role}"
    return None


def _unfilled(analysis: Analysis, scheme: str) -> str:
    if scheme:
        return f"nothing is labelled by {scheme}"
    return f"no source labels its posts by both {' and '.join(_roles(analysis))}"


def _roles(analysis: Analysis) -> list[str]:
    return [need for need in analysis.NEEDS if need not in _NOT_LABELS]


def _choices(analysis: Analysis, material: Material) -> list[Mapping[str, str]]:
    """Which scheme may stand for which role: one choice for an analysis that needs no labels."""
    roles = _roles(analysis)
    together = product(*(material.filling(role) for role in roles))
    return [dict(zip(roles, schemes, strict=True)) for schemes in together if of_one_source(schemes)]
