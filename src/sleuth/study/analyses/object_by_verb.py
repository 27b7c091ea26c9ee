"""What people want to do with each object."""

from __future__ import annotations

from sleuth.study.crossing import crossed
from sleuth.study.material import Material
from sleuth.study.result import Result

TITLE = "Object by verb"
NEEDS = ("object", "verb")
STUDIES = ("liu",)
KEYS = 2


def analyse(material: Material) -> Result:
    return crossed(material, "object", "verb", "object_by_verb", TITLE)
