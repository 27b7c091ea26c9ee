"""`sleuth explain`: the handbook on the command line."""

from __future__ import annotations

from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from sleuth.handbook import Page

SUMMARY = "what a diagnosis means, why it happens and how to fix it; or the list of them all"
EXAMPLE = "sleuth explain log-of-zero"

FILTERS = ("kind", "root_cause", "stage", "effect", "engine")
ENGINES = ("source", "dry", "live", "graph", "data", "compare", "profile", "environment")
# "log-of-zeros", "logofzero": so close that only one diagnosis can be meant.
_VERY_CLOSE = 0.85

_EXAMPLES = """\
examples:
  sleuth explain                            every diagnosis, by root cause
  sleuth explain log-of-zero                one page
  sleuth explain --effect nan --stage model-training
  sleuth explain --search "learning rate"
  sleuth explain --format json log-of-zero  for another program to read
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("name", nargs="?", metavar="NAME", help="a diagnosis (default: list them all)")
    parser.add_argument("--no-pager", action="store_true", help="write a long page to the terminal as it is")
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="how to write it (default: text)",
    )
    which = parser.add_argument_group("which diagnoses to list")
    which.add_argument("--search", metavar="WORDS", help="those whose name, title or page has all these words")
    for name in FILTERS:
        option = "--" + name.replace("_", "-")
        which.add_argument(option, metavar="X", help=f"those with this {name.replace('_', ' ')}")


def execute(args: Namespace) -> int:
    wanted = _filters(args)
    if args.name is None:
        return _show_list(_matching(wanted, args.search), args.format, paged=not args.no_pager)
    if wanted or args.search:
        raise Refusal("filters and --search go with the list; leave them or the name out")
    return _show_page(_meant(args.name), args.format, paged=not args.no_pager)


def _filters(args: Namespace) -> dict[str, str]:
    wanted: dict[str, str] = {name: value for name in FILTERS if (value := getattr(args, name)) is not None}
    for name, value in wanted.items():
        allowed = values_of(name)
        if value not in allowed:
            option = "--" + name.replace("_", "-")
            raise Refusal(f"{option} {value}: choose one of {', '.join(allowed)}")
    return wanted


def values_of(name: str) -> tuple[str, ...]:
    """The values a filter may have."""
    if name == "engine":
        return ENGINES
    from typing import get_args

    from sleuth import findings

    taxonomy = {
        "kind": findings.Kind,
        "root_cause": findings.RootCause,
        "stage": findings.Stage,
        "effect": findings.Effect,
    }
    return get_args(taxonomy[name])


def _matching(wanted: dict[str, str], search: str | None) -> list[Page]:
    from sleuth import handbook

    words = (search or "").lower().split()
    return [page for page in handbook.all_pages() if _fits(page, wanted) and _mentions(page, words)]


def _fits(page: Page, wanted: dict[str, str]) -> bool:
    return all(
        value in page.engines if name == "engine" else getattr(page, name) == value for name, value in wanted.items()
    )


def _mentions(page: Page, words: list[str]) -> bool:
    return not words or all(word in f"{page.name} {page.title} {page.text}".lower() for word in words)


def _meant(name: str) -> Page:
    """The page of that name, or of the only diagnosis that can be meant by it."""
    from sleuth import handbook
    from sleuth.cli import streams

    try:
        return handbook.page(name)
    except handbook.UnknownDiagnosis as unknown:
        close = handbook.closest(name, cutoff=_VERY_CLOSE)
        if len(close) != 1:
            raise Refusal(str(unknown)) from None
        streams.complain(f"there is no diagnosis called {name!r}; this is {close[0]}")
        return handbook.page(close[0])


def _show_list(pages: list[Page], format: str, paged: bool) -> int:
    from sleuth.cli import streams

    if format == "json":
        return _show_json({"schema": 1, "diagnoses": [_metadata(page) for page in pages]})
    if not pages:
        streams.complain("no diagnosis is like that; `sleuth explain` lists them all")
        return 0
    grouped: dict[str, list[Page]] = {}
    for page in sorted(pages, key=lambda page: (page.root_cause, page.name)):
        grouped.setdefault(page.root_cause, []).append(page)
    _show(_drawn_list(grouped) if streams.wants_colour() else _plain_list(grouped), paged)
    return 0


def _drawn_list(grouped: dict[str, list[Page]]) -> str:
    from sleuth.cli.handbook_view import drawn_list

    return drawn_list(grouped)


def _show(text: str, paged: bool) -> None:
    from sleuth.cli import pager, streams

    pager.show(text) if paged else streams.show(text)


def _plain_list(grouped: dict[str, list[Page]]) -> str:
    widest = max(len(page.name) for pages in grouped.values() for page in pages)
    return "\n".join(
        f"{root_cause}\n" + "".join(f"  {page.name:<{widest}}  {page.title}\n" for page in pages)
        for root_cause, pages in grouped.items()
    )


def _show_page(page: Page, format: str, paged: bool) -> int:
    from sleuth.cli import streams

    if format == "json":
        return _show_json({"schema": 1, **_metadata(page), "text": page.text})
    text = page.text if page.text.startswith("# ") else f"# {page.title}\n\n{page.text}"
    if streams.wants_colour():
        from sleuth.cli.handbook_view import drawn_page

        text = drawn_page(page, text)
    _show(text, paged)
    return 0


def _metadata(page: Page) -> dict[str, Any]:
    fields = ("name", "title", "kind", "root_cause", "stage", "effect", "engines", "references")
    return {field: getattr(page, field) for field in fields}


def _show_json(data: dict[str, Any]) -> int:
    import json

    from sleuth.cli import streams

    streams.show(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return 0
