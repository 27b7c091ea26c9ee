"""`sleuth study phrases`: what titles ask to do, and to what."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections import Counter
    from typing import Any

    from sleuth.study.phrases import Phrase

    Found = list[tuple[str, str, Phrase]]

SUMMARY = "the verb and object of how-to titles, in the phases and objects of study L"

_EXAMPLES = """\
examples:
  sleuth study phrases howto                           how often which object and which group of verbs
  sleuth study phrases howto --into phrases.jsonl      as labels of the codebooks taxonomy and verbs, for analyse
  sleuth study phrases howto --into phrases.csv        one row a post
  sleuth study phrases --title "How to slice a tensor by another tensor?"

Rules and a lexicon, no model. Of study L's own questions that the rules were not written on, they name the object of
about seven in ten as its authors did, and the phase of more than eight.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("corpus", nargs="?", metavar="CORPUS", help="a folder that ingest or select wrote")
    parser.add_argument("--title", metavar="TEXT", help="only this title, instead of a corpus")
    parser.add_argument(
        "--into", metavar="FILE", help="write a phrase for each post: labels (.jsonl) or a table (.csv)"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to write it (default: text)")


def execute(args: Namespace) -> int:
    from sleuth.study.corpus import NotACorpus
    from sleuth.study.label.store import NotLabels

    if (args.corpus is None) == (args.title is None):
        raise Refusal("say which CORPUS, or one --title")
    if args.title is not None:
        return _one(args.title, args.format)
    try:
        return _all(args)
    except (NotACorpus, NotLabels) as error:
        raise Refusal(str(error)) from None


def _one(title: str, format: str) -> int:
    from dataclasses import asdict

    from sleuth.cli import streams
    from sleuth.study.phrases import extract

    phrase = extract(title)
    if format == "json":
        return _show_json({"schema": 1, "title": title, "phrase": None if phrase is None else asdict(phrase)})
    if phrase is None:
        streams.show("It asks to do nothing.\n")
    else:
        group = f" ({phrase.group})" if phrase.group not in (None, phrase.verb) else ""
        streams.show(f"{phrase.verb}{group}: {phrase.object}, in {phrase.phase}\n")
    return 0


def _all(args: Namespace) -> int:
    from sleuth.cli import streams
    from sleuth.cli.progress import Progress
    from sleuth.study.corpus import open_corpus
    from sleuth.study.phrases.corpus import phrases_of

    corpus = open_corpus(args.corpus)
    _check_free(args)
    found: Found = []
    titles = 0
    with Progress("titles") as progress:
        for titles, (key, title, phrase) in enumerate(phrases_of(corpus), 1):
            if phrase is not None:
                found.append((key, title, phrase))
            progress(titles, max(titles, int(corpus.manifest.get("posts") or 0)))
    if args.into is not None:
        _write(args.into, found)
    told = _counted(titles, found)
    if args.format == "json":
        return _show_json({"schema": 1, **told, "into": args.into})
    streams.show(_as_text(told))
    if args.into is not None:
        streams.show(f"\n{len(found):,} phrases are in {args.into}\n")
    return 0


def _check_free(args: Namespace) -> None:
    from pathlib import Path

    if args.into is None:
        return
    if not args.into.endswith((".jsonl", ".csv")):
        raise Refusal(f"--into {args.into}: it ends in .jsonl (labels) or .csv (a table)")
    if Path(args.into).exists() and not args.force:
        raise Refusal(f"{args.into} is there already; --force replaces it")


def _write(into: str, found: Found) -> None:
    import csv
    import io
    import os

    from sleuth.cli import files
    from sleuth.study.label.store import LabelFile
    from sleuth.study.phrases.corpus import as_labels

    if into.endswith(".jsonl"):
        draft = f"{into}.{os.getpid()}.part"
        with LabelFile(draft) as file:
            file.append_all(label for key, _, phrase in found for label in as_labels(key, phrase))
        os.replace(draft, into)
        return
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("key", "title", "word", "verb", "group", "object", "phase"))
    for key, title, phrase in found:
        writer.writerow((key, title, phrase.word, phrase.verb, phrase.group or "", phrase.object, phrase.phase))
    files.write(into, table.getvalue(), "the phrases")


def _counted(titles: int, found: Found) -> dict[str, Any]:
    from collections import Counter

    phrases = [phrase for _, _, phrase in found]
    return {
        "titles": titles,
        "phrases": len(phrases),
        "objects": _rows(Counter(phrase.label for phrase in phrases)),
        "groups": _rows(Counter(phrase.group or "other" for phrase in phrases if phrase.phase == "data-processing")),
        "verbs": _rows(Counter(phrase.verb for phrase in phrases)),
    }


def _rows(counts: Counter[str]) -> list[dict[str, Any]]:
    return [{"name": name, "posts": n} for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _as_text(told: dict[str, Any]) -> str:
    from sleuth.cli.study.columns import aligned, percent

    total = told["phrases"]
    text = f"{total:,} of {told['titles']:,} titles ask to do something\n"
    if not total:
        return text
    phases: dict[str, list[dict[str, Any]]] = {}
    for row in told["objects"]:
        phases.setdefault(row["name"].partition("/")[0], []).append(row)
    by_size = sorted(phases.items(), key=lambda item: -sum(row["posts"] for row in item[1]))
    rows: list[tuple[str, str, str]] = []
    for phase, objects in by_size:
        posts = sum(row["posts"] for row in objects)
        rows.append((phase, f"{posts:,}", percent(posts / total)))
        rows += [
            (f"  {row['name'].partition('/')[2]}", f"{row['posts']:,}", percent(row["posts"] / total))
            for row in objects
        ]
    text += "\n" + aligned(("phase and object", "posts", "share"), rows)
    groups = [(row["name"], f"{row['posts']:,}") for row in told["groups"]]
    text += "\n" + aligned(("verbs of data processing", "posts"), groups) if groups else ""
    verbs = [(row["name"], f"{row['posts']:,}") for row in told["verbs"][:15]]
    return text + "\n" + aligned(("most usual verbs", "posts"), verbs)


def _show_json(data: dict[str, Any]) -> int:
    import json

    from sleuth.cli import streams

    streams.show(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return 0
