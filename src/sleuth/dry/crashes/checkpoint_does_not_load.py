"""load_state_dict with names or shapes that the model does not have."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Fix

_HEAD = re.compile(r"Error\(s\) in loading state_dict for (\w+)|loaded state dict (?:has|contains) a")
_MISSING = re.compile(r"Missing key\(s\) in state_dict: (.+?)\.?\s*$", re.MULTILINE)
_UNEXPECTED = re.compile(r"Unexpected key\(s\) in state_dict: (.+?)\.?\s*$", re.MULTILINE)
_SIZE = re.compile(r"size mismatch for (\S+): .*?shape torch\.Size\((\[.*?\])\).*?model is torch\.Size\((\[.*?\])\)")
# Names a person reads before it becomes a list.
_MOST_NAMES = 3


def explain(crash: Crash) -> Finding | None:
    head = _HEAD.search(crash.message)
    if head is None:
        return None
    missing, unexpected = _names(_MISSING, crash), _names(_UNEXPECTED, crash)
    sizes = _SIZE.findall(crash.message)
    return told(
        "checkpoint-does-not-load",
        crash,
        title=_title(head.group(1) or "the optimiser", missing, unexpected, sizes),
        evidence=[
            *(Evidence("not in the checkpoint", _few(missing)) for _ in missing[:1]),
            *(Evidence("only in the checkpoint", _few(unexpected)) for _ in unexpected[:1]),
            *(
                Evidence(name, f"{saved} in the checkpoint, {own} in the model")
                for name, saved, own in sizes[:_MOST_NAMES]
            ),
        ],
        fixes=[_fix(missing, unexpected)],
    )


def _names(pattern: re.Pattern[str], crash: Crash) -> list[str]:
    found = pattern.search(crash.message)
    return re.findall(r'"([^"]+)"', found.group(1)) if found is not None else []


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _title(model: str, missing: list[str], unexpected: list[str], sizes: list[tuple[str, str, str]]) -> str:
    if _prefix(missing, unexpected):
        return f"the checkpoint's names begin with {_prefix(missing, unexpected)!r}, those of {model} do not"
    if sizes and not missing and not unexpected:
        name, saved, own = sizes[0]
        return f"{name} is {saved} in the checkpoint and {own} in {model}"
    if not (missing or unexpected or sizes):
        return f"the checkpoint was made for another {model}"
    return f"{model} and the checkpoint disagree: {len(missing)} weights missing, {len(unexpected)} unknown"


def _prefix(missing: list[str], unexpected: list[str]) -> str:
    """`module.`, where that is all the two differ in."""
    for one in unexpected:
        for own in missing:
            if one.endswith(f".{own}"):
                prefix = one.removesuffix(own)
                return prefix if {name.removeprefix(prefix) for name in unexpected} <= set(missing) else ""
    return ""


def _fix(missing: list[str], unexpected: list[str]) -> Fix:
    prefix = _prefix(missing, unexpected)
    if prefix:
        return Fix(f'{{name.removeprefix("{prefix}"): value for name, value in state.items()}}')
    return Fix("build the model with the sizes it was saved with, and load what model.state_dict() saved")
