"""The precision of `sleuth check` on code that nobody here wrote.

get     fetch all corpora
run     check them and keep every error and warning
sample  show what is to be read, and still unread
label   take the verdicts of a reader: lines `number true|false why`, from a file or standard input
report  print the precision and write benchmarks/results/precision.json and .md"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from precision.corpora import CACHE, CannotBeHad, Corpus, corpora, ready
from precision.estimates import LIMIT, markdown, results
from precision.examination import CannotExamine, Found, examine, read, write
from precision.labels import BadLabel, Labels, parsed
from precision.sampling import SIZES, sample

RESULTS = Path(__file__).parents[1] / "results"


def get(arguments: argparse.Namespace) -> list[Corpus]:
    """The corpora that are here, fetched where need be; what cannot be had is said and left out."""
    found = []
    for corpus in corpora(arguments.group):
        try:
            ready(corpus, arguments.mirrors)
            found.append(corpus)
        except CannotBeHad as error:
            print(f"{corpus.name} is left out: {error}", file=sys.stderr)
    return found


def run(arguments: argparse.Namespace) -> None:
    for corpus in get(arguments):
        found, about = examine(corpus)
        write(corpus, found, about)
        print(f"{corpus.name} {corpus.version[:12]}: {len(found)} in {about['lines']:,} lines", flush=True)
        if about["said"]:
            print("    " + about["said"].replace("\n", "\n    "))
    everything = [one for one in read()[0] if arguments.group in (None, one.group)]
    (CACHE / "findings.txt").write_text("\n\n".join(map(told, everything)) + "\n", encoding="utf-8")
    for diagnosis, count in Counter(one.diagnosis for one in everything).most_common():
        print(f"{count:6} {diagnosis}")


def chosen(found: Sequence[Found]) -> list[Found]:
    groups = [[one for one in found if one.group == group] for group in SIZES]
    sampled = [sample(group, SIZES[name]) for name, group in zip(SIZES, groups, strict=True)]
    return [one for strata in sampled for members in strata.values() for one in members]


def show_sample(arguments: argparse.Namespace) -> None:
    labels = Labels()
    found = chosen(read()[0])
    unread = [one for one in found if labels.get(one) is None and arguments.group in (None, one.group)]
    for one in unread:
        print(told(one), end="\n\n")
    print(f"{len(found)} are drawn, {len(unread)} of them are to be read", file=sys.stderr)


def told(found: Found) -> str:
    head = f"{found.id} {found.diagnosis} ({found.severity}, {found.certainty})"
    place = f"{found.corpus}: {found.path}:{found.line}"
    return "\n".join([head, place, found.title, *found.story, found.excerpt()])


def label(arguments: argparse.Namespace) -> None:
    labels = Labels()
    with arguments.verdicts as lines:
        new = parsed(lines, read()[0])
    for found, verdict in new:
        labels.put(found, verdict)
    labels.write()
    print(f"{len(new)} labels are written")


def report(arguments: argparse.Namespace) -> None:
    found, about = read()
    result = results(found, about, Labels())
    text = markdown(result)
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "precision.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "precision.md").write_text(text, encoding="utf-8")
    if any(group["unread"] or group["weighted"]["precision"] < LIMIT for group in result["groups"].values()):
        raise SystemExit(1)


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog="benchmarks/precision", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = whole.add_subparsers(required=True, metavar="command")
    for name, action in {"get": get, "run": run, "sample": show_sample, "label": label, "report": report}.items():
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        if name in ("get", "run", "sample"):
            command.add_argument("--group", choices=list(SIZES), help="only this group")
        if name in ("get", "run"):
            command.add_argument("--mirrors", type=Path, metavar="FOLDER", help="bare repositories, owner+name/repo")
        if name == "label":
            command.add_argument("verdicts", type=argparse.FileType("r", encoding="utf-8"), nargs="?", default="-")
    return whole


def main() -> None:
    arguments = parser().parse_args()
    try:
        arguments.action(arguments)
    except (CannotExamine, BadLabel) as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
