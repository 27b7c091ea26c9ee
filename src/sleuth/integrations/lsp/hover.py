"""The handbook under the pointer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sleuth import handbook
from sleuth.findings import Finding

_FENCE = re.compile(r"^```(\w+) (before|after)$", re.MULTILINE)


def markdown(findings: Iterable[Finding]) -> str:
    """What each finding says, and once the page of each diagnosis."""
    said: dict[str, list[str]] = {}
    for finding in findings:
        titles = said.setdefault(finding.diagnosis, [])
        if finding.title not in titles:
            titles.append(finding.title)
    return "\n\n---\n\n".join(_page(diagnosis, titles) for diagnosis, titles in said.items())


def _page(diagnosis: str, titles: list[str]) -> str:
    try:
        page = handbook.page(diagnosis)
    except handbook.UnknownDiagnosis:
        return "\n\n".join((f"# {diagnosis}", *titles))
    told = [_escaped(title) for title in titles if title != page.title]
    return "\n\n".join((f"# {page.title}", f"`{page.name}`", *told, _labelled(page.text)))


def _labelled(text: str) -> str:
    """`before` and `after` beside a fence are no Markdown that an editor shows."""
    return _FENCE.sub(lambda fence: f"*{fence[2].capitalize()}:*\n\n```{fence[1]}", text).strip()


def _escaped(title: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", title)
