"""`sleuth study codebook`: what raters may answer, and the rules they decide by."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.study.label.codebook import Choice, Codebook

SUMMARY = "list the codebooks, show one, or check your own"

_EXAMPLES = """\
examples:
  sleuth study codebook                          the schemes of the four studies
  sleuth study codebook kinds                    one of them: labels, keys, definitions, rules
  sleuth study codebook mine.toml                your own, checked
  sleuth study codebook taxonomy --format json   for another program
  sleuth study codebook kinds --format toml > mine.toml    one to edit
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a codebook, or the path of your own (default: list them)"
    )
    parser.add_argument("--format", choices=("text", "json", "toml"), default="text", help="how to write it")


def execute(args: Namespace) -> int:
    from sleuth.cli import streams
    from sleuth.study.label.codebook import BadCodebook, codebook_names, codebook_text, load_codebook

    try:
        if args.name is None:
            if args.format == "toml":
                raise Refusal("--format toml goes with one codebook; name it")
            return _list([load_codebook(name) for name in codebook_names()], args.format)
        codebook = load_codebook(args.name)
        if args.format == "toml":
            streams.show(codebook_text(args.name))
            return 0
        return _show(codebook, args.format)
    except BadCodebook as error:
        raise Refusal(str(error)) from None


def _list(codebooks: list[Codebook], format: str) -> int:
    from sleuth.cli import streams

    if format == "json":
        return _show_json({"schema": 1, "codebooks": [_as_data(codebook) for codebook in codebooks]})
    widest = max(len(codebook.name) for codebook in codebooks)
    for codebook in codebooks:
        source = codebook.source.split(";")[0]
        streams.show(f"{codebook.name:<{widest}}  {len(codebook.choosable):>2}  {codebook.title} ({source})\n")
    return 0


def _show(codebook: Codebook, format: str) -> int:
    from sleuth.cli import streams

    if format == "json":
        return _show_json({"schema": 1, **_as_data(codebook)})
    lines = [codebook.title, codebook.question, f"({codebook.source})" if codebook.source else "", ""]
    for label in codebook.under(None):
        lines += _told(codebook, label, "")
    if codebook.rules:
        lines += ["", "Rules"]
    for number, rule in enumerate(codebook.rules, 1):
        lines += _wrapped(f"{number}. ", rule)
    streams.show("\n".join(lines) + "\n")
    return 0


def _told(codebook: Codebook, label: Choice, indent: str) -> list[str]:
    lines = [f"{indent}{label.key}  {label.title}" + (f"  ({label.name})" if label.within is None else "")]
    lines += _wrapped(f"{indent}     ", label.definition)
    if label.examples:
        lines += _wrapped(f"{indent}     such as: ", "; ".join(label.examples))
    if label.fixes:
        lines += _wrapped(f"{indent}     put right by: ", "; ".join(label.fixes))
    for part in codebook.under(label.name):
        lines += _told(codebook, part, indent + "     ")
    return lines


def _wrapped(lead: str, text: str) -> list[str]:
    import textwrap

    from sleuth.cli import streams

    after = " " * (len(lead) if not lead.strip() or len(lead) < 8 else len(lead) - len(lead.lstrip()))
    return textwrap.wrap(text, width=max(40, streams.width()), initial_indent=lead, subsequent_indent=after)


def _as_data(codebook: Codebook) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(codebook)


def _show_json(data: dict[str, Any]) -> int:
    import json

    from sleuth.cli import streams

    streams.show(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return 0
