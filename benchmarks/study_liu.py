"""Liu et al. (IST 2024) from its public data: every figure that the paper prints, beside what `sleuth study` computes.

python benchmarks/study_liu.py --labelled FOLDER    a folder with texts.jsonl and labels.csv of the study
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SLEUTH = str(Path(sys.executable).with_name("sleuth"))
# The public data has a letter for each post's phase, which the printed taxonomy overrules for 105 of them.
BY_LETTER = "popularity:liu.phase_letter"
CORRELATION = "popularity_difficulty_correlation"


def analysed(labelled: Path, engine: str) -> dict[str, dict[str, Any]]:
    """Every analysis of the study, as the command gives it."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = str(Path(folder, "corpus"))
        subprocess.run(
            [SLEUTH, "study", "ingest", str(labelled / "texts.jsonl"), "--into", corpus],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        labels = str(labelled / "labels.csv")
        command = [SLEUTH, "study", "analyse", corpus, "--labels", labels, "--study", "liu", "--engine", engine]
        done = subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.PIPE)
    return {result["name"]: result for result in json.loads(done.stdout)["results"]}


def compared(results: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The paper's figures: analysis, what, printed, ours, whether they agree, and how it was computed."""
    rows = [
        {
            "analysis": name,
            "what": each["what"],
            "printed": each["published"],
            "ours": each["ours"],
            "same": each["same"],
            "note": each["note"],
        }
        for name, result in results.items()
        if name != "classifier"
        for each in result["comparisons"]
    ]
    taxonomy = results["taxonomy:liu.object"]["rows"]
    for what, printed, ours in (
        ("phases", 7, len({row[0] for row in taxonomy})),
        ("objects", 63, len(taxonomy)),
    ):
        rows.append(_row("taxonomy:liu.object", what, printed, ours, ""))
    return rows


def _row(analysis: str, what: str, printed: float, ours: float, note: str) -> dict[str, Any]:
    return {"analysis": analysis, "what": what, "printed": printed, "ours": ours, "same": printed == ours, "note": note}


def further(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the paper's data says beyond the figures above."""
    correlations = {row[0]: row for row in results[CORRELATION]["rows"]}
    return {
        "posts by year": {str(row[0]): row[2] for row in results["growth"]["rows"] if row[1] == "all"},
        "Spearman": {pair: round(row[4], 4) for pair, row in correlations.items()},
        "framework correlation over the seven phases": {
            row[0]: round(row[3], 4) for row in results["framework_correlation:liu.phase"]["rows"]
        },
    }


def told(rows: list[dict[str, Any]], beyond: dict[str, Any]) -> str:
    same = sum(row["same"] for row in rows)
    lines = [
        "# Liu et al., IST 2024, from its public data",
        "",
        f"{same} of {len(rows)} figures agree{_reservations(rows)}. Of the funnel only its last step, 2,401, can be"
        " counted here: the steps before need the whole dump.",
        "",
        "Made by `python benchmarks/study_liu.py --labelled FOLDER`.",
        "",
        "| analysis | figure | printed | ours | |",
        "|---|---|---|---|---|",
        *(
            f"| {row['analysis']} | {row['what']} | {row['printed']:,} | {_short(row['ours'])} |"
            f" {'same' if row['same'] else '**differs**'} |"
            for row in rows
        ),
        "",
        "How they were computed, where it is not plain:",
        "",
        *(f"- {note}" for note in _notes(rows)),
        "",
        "Beyond what is printed:",
        "",
        *(
            f"- {what}: {', '.join(f'{name} {value:,}' for name, value in values.items())}"
            for what, values in beyond.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def _reservations(rows: list[dict[str, Any]]) -> str:
    """How many of those that agree do so with some help."""
    cut = sum("cut off" in row["note"] for row in rows)
    assigned = sum("one assignment that agrees" in row["note"] for row in rows)
    return (
        f" ({cut} of them with digits cut off instead of rounded, {assigned} by an assignment of verbs made to agree)"
    )


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in filter(None, row["note"].split("; ")):
            about.setdefault(note, []).append(row["what"])
    return [
        f"{names[0] if len(names) == 1 else f'{names[0]} and {len(names) - 1} more'}: {note}"
        for note, names in about.items()
    ]


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.4f}".rstrip("0").rstrip(".")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--no-write", action="store_true", help="only print")
    args = parser.parse_args()
    results = analysed(args.labelled, args.engine)
    rows, beyond = compared(results), further(results)
    print(told(rows, beyond), end="")
    if not args.no_write:
        data = {"engine": args.engine, "figures": rows, "beyond": beyond}
        (RESULTS / "study_liu.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (RESULTS / "study_liu.md").write_text(told(rows, beyond), encoding="utf-8")
    expected = [row for row in rows if row["analysis"] != BY_LETTER]
    return 0 if all(row["same"] for row in expected) else 1


if __name__ == "__main__":
    sys.exit(main())
