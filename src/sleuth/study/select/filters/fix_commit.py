"""Commits whose message says that they mend a defect."""

from __future__ import annotations

from typing import Any

from sleuth.study.select import patterns
from sleuth.study.select.values import yes_or_no

KEYS = {
    "fix_commit": "commits whose message speaks of a fix or a bug, but no merge and no mended text (false: the others)"
}
EXAMPLES: tuple[dict[str, Any], ...] = ({"fix_commit": True}, {"fix_commit": False})

_MENDS = patterns.word(
    *"fix fixes fixing fixup bug bugs bugfix bugfixes hotfix hotfixes defect defects fault faults".split(),
    *"regression regressions".split(),
)
_MENDED = patterns.word("fixed")
# "a fixed window", "fixed-size", "fixed point": nothing was broken.
_FIXED_IN_PLACE = patterns.word(
    *(f"{before} fixed" for before in "a an the with use using add of to by for as at".split()),
    *(f"fixed {noun}" for noun in "point size sized length width seed number rate shape step batch window".split()),
    *(f"fixed-{noun}" for noun in "point size sized length width seed number rate shape step batch window".split()),
)
_SEED = patterns.word(
    *(f"{fix} {seed}" for fix in ("fix", "fixed") for seed in ("seed", "the seed", "random seed", "seeds"))
)
_CLOSES_AN_ISSUE = "(^|[^0-9A-Za-z_])([Ff]ix(es|ed)?|[Rr]esolves?d?):?[ \t]+([A-Za-z0-9_./-]+)?#[0-9]"
_NOT_A_CHANGE = patterns.start(
    "merge", "merged", "merges", "merging", "revert", "reverts", "reverted", "bump", "release"
)
_PROSE = patterns.word(
    *"typo typos doc docs documentation docstring docstrings readme readme.md comment comments".split(),
    *"spelling grammar wording changelog whitespace indentation formatting lint linter pep8 flake8 pylint".split(),
    *("bug report template", "issue template", "broken link", "broken links", "dead link", "dead links"),
)
_CONVENTIONAL_PROSE = "^(docs|style|chore|ci)([(][^)]*[)])?!?:"


def keep(posts: Any, name: str, value: Any) -> Any:
    is_commit = (posts.kind_of_post == "commit").fill_null(False)
    title, text = posts.title.fill_null(""), posts.text.fill_null("")
    mends = title.re_search(_MENDS) | title.re_search(_MENDED) & ~title.re_search(_FIXED_IN_PLACE)
    says_so = mends & ~title.re_search(_SEED) | title.re_search(_CLOSES_AN_ISSUE) | text.re_search(_CLOSES_AN_ISSUE)
    other = title.re_search(_NOT_A_CHANGE) | title.re_search(_PROSE) | title.re_search(_CONVENTIONAL_PROSE)
    mended = says_so & ~other
    return is_commit & (mended if yes_or_no(name, value) else ~mended)
