"""The handbook: one Markdown page a diagnosis, read from `pages/`, front matter in TOML between `+++` lines."""

from __future__ import annotations

import os
from functools import cache

from sleuth.handbook import front_matter

# `sleuth explain` must start at once: typing, dataclasses and pathlib would each cost it milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Final

    from sleuth.findings import Certainty, Effect, Evidence, Finding, Fix, Kind, Link, Place, RootCause, Severity, Stage

    PAGES: Path

_FOLDER = os.path.join(os.path.dirname(__file__), "pages")
_MATTER = ("title", "kind", "root_cause", "stage", "effect", "engines", "references")


class Page:
    """One diagnosis as the handbook tells it."""

    __slots__ = ("effect", "engines", "kind", "name", "references", "root_cause", "stage", "text", "title")

    def __init__(
        self,
        *,
        name: str,
        title: str,
        kind: Kind,
        root_cause: RootCause,
        stage: Stage,
        effect: Effect,
        engines: Iterable[str],
        references: Iterable[str],
        text: str,
    ) -> None:
        self.name: Final = name
        self.title: Final = title
        self.kind: Final = kind
        self.root_cause: Final = root_cause
        self.stage: Final = stage
        self.effect: Final = effect
        self.engines: Final = tuple(engines)
        self.references: Final = tuple(references)
        self.text: Final = text

    def __repr__(self) -> str:
        return f"<Page {self.name}>"

    @property
    def sections(self) -> dict[str, str]:
        """The text under each `## heading`, in the page's order."""
        found: dict[str, list[str]] = {}
        body: list[str] = []
        fenced = False
        for line in self.text.splitlines():
            fenced ^= line.startswith("```")
            if line.startswith("## ") and not fenced:
                body = found.setdefault(line[3:].strip(), [])
            else:
                body.append(line)
        return {heading: "\n".join(lines).strip() for heading, lines in found.items()}


class UnknownDiagnosis(LookupError):
    """No page has that name; `str()` of it is the one line to show."""

    def __init__(self, name: str) -> None:
        self.close = closest(name)
        hint = f"; did you mean {' or '.join(self.close)}?" if self.close else "; `sleuth explain` lists them all"
        super().__init__(f"there is no diagnosis called {name!r}{hint}")

    def __str__(self) -> str:
        return str(self.args[0])


def __getattr__(attribute: str) -> Path:
    if attribute != "PAGES":
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    from pathlib import Path

    return Path(_FOLDER)


def _folder() -> str:
    return str(globals().get("PAGES", _FOLDER))


def names() -> tuple[str, ...]:
    """Every diagnosis, sorted by name."""
    return tuple(sorted(file[:-3] for file in os.listdir(_folder()) if file.endswith(".md")))


def page(name: str) -> Page:
    """The page of a diagnosis. Raises UnknownDiagnosis."""
    if name not in names():
        raise UnknownDiagnosis(name)
    return _page(_folder(), name)


def all_pages() -> tuple[Page, ...]:
    """Every page, sorted by name."""
    folder = _folder()
    return tuple(_page(folder, name) for name in names())


@cache
def _page(folder: str, name: str) -> Page:
    with open(os.path.join(folder, f"{name}.md"), encoding="utf-8") as file:
        return parse(name, file.read())


def parse(name: str, source: str) -> Page:
    matter, text = front_matter.split(source)
    return Page(name=name, text=text, **{key: matter[key] for key in _MATTER})


def closest(name: str, most: int = 3, cutoff: float = 0.5) -> tuple[str, ...]:
    """The diagnoses whose names look most like this one, the best first."""
    import difflib

    wanted = "-".join(name.lower().replace("_", " ").split())
    return tuple(difflib.get_close_matches(wanted, names(), n=most, cutoff=cutoff))


def finding(
    diagnosis: str,
    *,
    place: Place | None,
    title: str | None = None,
    certainty: Certainty = "certain",
    severity: Severity = "error",
    root_cause: RootCause | None = None,
    step: int | None = None,
    rank: int | None = None,
    evidence: Iterable[Evidence] = (),
    chain: Iterable[Link] = (),
    fixes: Iterable[Fix] = (),
) -> Finding:
    """A finding whose classification comes from its handbook page, so that the two cannot disagree."""
    from sleuth.findings import Finding

    about = page(diagnosis)
    return Finding(
        diagnosis=diagnosis,
        title=title or about.title,
        certainty=certainty,
        severity=severity,
        kind=about.kind,
        root_cause=root_cause or about.root_cause,
        stage=about.stage,
        effect=about.effect,
        place=place,
        step=step,
        rank=rank,
        evidence=tuple(evidence),
        chain=tuple(chain),
        fixes=tuple(fixes),
    )
