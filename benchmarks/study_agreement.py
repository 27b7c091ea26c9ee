"""Agreement on a public set of labels with a reported range: the evaluators of Humbatova et al., ICSE 2020.

Each artefact was tagged in free text by two to four of six evaluators. Their pairwise Cohen's kappa was reported as
.21 to .72, without saying how the tags were grouped. Of some fifteen groupings tried, asking only whether an evaluator
saw a fault at all meets both ends. That shows that the range can be had from the data, and no more; the coefficients
themselves are tested against textbooks. With every tag as a label of its own, agreement is lower.

    python benchmarks/study_agreement.py --labelled FOLDER
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sleuth.study.label.agreement import measure, rounds
from sleuth.study.label.store import Labels, read_labels

RESULT = Path(__file__).parent / "results" / "study_agreement.json"
SCHEME = "humbatova.tag"
NO_FAULT = {"false positive", "generic", "unclear", "-"}
REPORTED = {"lowest": 0.21, "highest": 0.72}


def measured(labels: Labels, reading: Callable[[str], str]) -> dict[str, Any]:
    [ratings] = rounds(labels, SCHEME, reading=reading)
    found = measure(ratings)
    kappas = {" and ".join(pair.raters): pair.kappa for pair in found.pairs}
    values = [kappa.value for kappa in kappas.values() if kappa.value is not None]
    return {
        "artefacts": found.posts,
        "pairs that agree": found.agree,
        "lowest": round(min(values), 2),
        "highest": round(max(values), 2),
        "cohen": {name: asdict(kappa) for name, kappa in kappas.items()},
        "krippendorff": asdict(found.alpha),
        f"fleiss, {found.fleiss_raters} raters": asdict(found.fleiss),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, required=True, help="a folder with labels.csv")
    labels = read_labels(parser.parse_args().labelled / "labels.csv")
    result = {
        "reported": REPORTED,
        "fault or none": measured(labels, lambda tag: "none" if tag in NO_FAULT else "fault"),
        "every tag by itself": measured(labels, str),
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name in ("fault or none", "every tag by itself"):
        found = result[name]
        print(f"{name}: pairwise kappa {found['lowest']} to {found['highest']}, {found['artefacts']} artefacts")
    print(f"reported: {REPORTED['lowest']} to {REPORTED['highest']}")


if __name__ == "__main__":
    main()
