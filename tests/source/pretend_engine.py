"""An engine for tests that finds calls of a few names, so that everything around the engine can be tested without it.

    old(x)        an error with a safe fix: new(x)
    wrapped(x)    an error whose safe fix rewrites the whole call: unwrapped(x)
    risky(x)      a warning with an unsafe fix: calm(x)
    advice(x)     a hint
    spoilt(x)     an error whose safe fix leaves a file that is not Python
    stubborn(x)   an error whose safe fix does not help
    swinging(x)   an error whose safe fix leads to another, `swung`, whose fix leads back
    explode(x)    an error inside the engine
    fatal(x)      the end of the process

`import name` makes a file depend on name.py beside it, and brings its `old` calls with it."""

from __future__ import annotations

import ast
import os
from types import ModuleType

from sleuth.findings import Edit, Finding, Fix, Link, Place
from sleuth.source import cache, checks, engine
from sleuth.source.engine import Examined, Unit

NAMES = ("advice-call", "old-call", "risky-call", "spoilt-call", "stubborn-call", "swinging-call", "wrapped-call")
PAGE = """\
+++
title = "a call of {name}"
kind = "implementation"
root_cause = "api-misuse"
stage = "model-training"
effect = "crash"
engines = ["source"]
references = []
+++
## What it means

Something.
"""
FIXED = {
    "old": "new",
    "risky": "calm",
    "spoilt": "new(",
    "stubborn": "(stubborn)",
    "swinging": "swung",
    "swung": "swinging",
}


def examine(unit: Unit, project: object, *, select: frozenset[str] | None = None) -> Examined:
    try:
        tree = ast.parse(unit.text)
    except SyntaxError as error:
        return Examined((), (), f"{unit.shown}:{error.lineno}:{error.offset}: syntax error: {error.msg}")
    except ValueError as error:
        return Examined((), (), f"{unit.shown}:1:1: cannot be read as Python: {error}")
    with open(os.environ.get("EXAMINED", os.devnull), "a") as log:
        log.write(f"{unit.shown}\n")
    found = list(calls(tree, unit.text, unit.shown))
    dependencies = []
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import) else ():
            path = os.path.join(os.path.dirname(unit.path), f"{alias.name}.py")
            text = text_of(path, project.overlay)
            if text is not None:
                dependencies.append(path)
                found += [one for one in calls(ast.parse(text), text, path) if one.diagnosis == "old-call"]
    kept = [finding for finding in found if select is None or finding.diagnosis in select]
    return Examined(tuple(kept), tuple(dependencies))


def text_of(path: str, overlay: dict[str, str]) -> str | None:
    if path in overlay:
        return overlay[path]
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def calls(tree: ast.Module, text: str, shown: str) -> list[Finding]:
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [node for node in named if isinstance(node.func, ast.Name)]
    return [one for node in named for one in finding(node, text, shown)]


def finding(node: ast.Call, text: str, shown: str) -> list[Finding]:
    name = node.func.id
    if name == "explode":
        raise KeyError("a bug of ours")
    if name == "fatal":
        os._exit(9)
    if name not in FIXED and name not in ("wrapped", "advice"):
        return []
    whole = node if name == "wrapped" else node.func
    edit = Edit(shown, *start(whole, text), *end(whole, text), "")
    written = ast.get_source_segment(text, node)
    replacement = "un" + written if name == "wrapped" else FIXED.get(name, "")
    fix = Fix(f"write {replacement}", (replace_text(edit, replacement),), safe=name != "risky")
    return [
        Finding(
            f"{name}-call" if name != "swung" else "swinging-call",
            f"{name} is called",
            "hint" if name == "advice" else "likely" if name == "risky" else "certain",
            "note" if name == "advice" else "warning" if name == "risky" else "error",
            "implementation",
            "api-misuse",
            "model-training",
            "crash",
            Place(shown, *start(node, text), node.end_lineno, " ".join(written.split())),
            chain=(Link("it is called here", Place(shown, *start(node, text))),),
            fixes=() if name == "advice" else (fix,),
        )
    ]


def replace_text(edit: Edit, text: str) -> Edit:
    return Edit(edit.path, edit.line, edit.column, edit.end_line, edit.end_column, text)


def start(node: ast.AST, text: str) -> tuple[int, int]:
    return node.lineno, character(text, node.lineno, node.col_offset)


def end(node: ast.AST, text: str) -> tuple[int, int]:
    return node.end_lineno, character(text, node.end_lineno, node.end_col_offset)


def character(text: str, line: int, offset: int) -> int:
    return len(text.split("\n")[line - 1].encode()[:offset].decode()) + 1


def install(put=setattr) -> ModuleType:
    put(engine, "examine", examine)
    put(checks, "names", lambda: NAMES)
    # Someone may be at work on Sleuth while its tests run.
    put(cache, "fingerprint", lambda: "pretend")
    return engine
