"""Where the posts of a corpus come from: the chain of manifests from a selection back to what was taken in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sleuth.study.corpus import Corpus, NotACorpus, open_corpus
from sleuth.study.report.content import Step

# A selection of a selection is common, a longer chain a circle.
_LONGEST = 20


@dataclass(frozen=True)
class Lineage:
    """Manifests, the corpus's own first. `lost` is a folder that the chain names and that is no longer there."""

    manifests: tuple[dict[str, Any], ...]
    lost: str = ""

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The files that were taken in."""
        return list(self.manifests[-1].get("sources") or ())

    @property
    def set_aside(self) -> int:
        return sum(int(manifest.get("set_aside") or 0) for manifest in self.manifests)

    @property
    def taken_in(self) -> int | None:
        """How many posts the first corpus of the chain has."""
        return None if self.lost else self.manifests[-1].get("posts")

    @property
    def presets(self) -> list[dict[str, Any]]:
        """The selections, the earliest first."""
        return [manifest["preset"] for manifest in reversed(self.manifests) if manifest.get("preset")]

    @property
    def funnel(self) -> tuple[Step, ...]:
        """The steps of every selection, one after the other."""
        steps: list[Step] = []
        for manifest in reversed(self.manifests):
            for step in manifest.get("funnel") or ():
                if steps and step["posts"] == steps[-1].posts and step["step"] == _BEGINNING:
                    continue
                steps.append(Step(str(step["step"]), step["posts"], step.get("published")))
        return tuple(steps)


_BEGINNING = "in the corpus"


def lineage(corpus: Corpus) -> Lineage:
    """As far back as the folders are still there."""
    manifests = [corpus.manifest]
    while (source := manifests[-1].get("from")) and len(manifests) < _LONGEST:
        try:
            manifests.append(open_corpus(source).manifest)
        except NotACorpus:
            return Lineage(tuple(manifests), Path(source).name)
    return Lineage(tuple(manifests))
