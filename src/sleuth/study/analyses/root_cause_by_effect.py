"""What each root cause leads to."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Root cause by effect"
NEEDS = ("root-cause", "effect")
STUDIES = ("zhang", "islam")
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "root-cause", "effect", "root_cause_by_effect", TITLE)
