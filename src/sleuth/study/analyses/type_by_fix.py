"""How each type of bug is put right."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Bug type by fix"
NEEDS = ("bug-type", "fix")
STUDIES = ("islam",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "bug-type", "fix", "type_by_fix", TITLE)
