"""What the books say of one device, as plain data for the journal."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from sleuth.dry.memory.ledger import ACTIVATIONS, KINDS, Account, Ledger
from sleuth.findings import place_to_json
from sleuth.program import line_of, place_at, place_of

_MOST_LINES = 5


def of_device(ledger: Ledger, device: str) -> dict[str, Any]:
    memory = ledger.memories[device]
    accounts = [(account, size) for account in ledger.accounts(device) if (size := account.at_peak())]
    kinds = Counter[str]()
    lines: defaultdict[tuple[str, int], list[tuple[Account, int]]] = defaultdict(list)
    layers: defaultdict[str, list[tuple[Account, int]]] = defaultdict(list)
    for account, size in accounts:
        kinds[account.kind] += size
        if account.code is not None:
            line = line_of(account.code, account.instruction)
            lines[account.code.co_filename, line].append((account, size))
        if account.layer:
            layers[account.layer].append((account, size))
    activations = Counter[str]()
    for account, size in accounts:
        if account.kind == ACTIVATIONS:
            activations[account.dtype] += size
    return {
        "peak": memory.peak,
        "kinds": {kind: kinds[kind] for kind in KINDS},
        "lines": [{**_told(group), "place": _line(group)} for group in _largest(lines)],
        "layers": [{**_told(group), "layer": group[0][0].layer} for group in _largest(layers)],
        "activations by dtype": dict(activations),
        "full at": None if memory.over_limit is None else _place(memory.over_limit),
    }


def _largest(groups: dict[Any, list[tuple[Account, int]]]) -> list[list[tuple[Account, int]]]:
    return sorted(groups.values(), key=lambda group: -sum(size for _, size in group))[:_MOST_LINES]


def _told(group: list[tuple[Account, int]]) -> dict[str, Any]:
    kinds = Counter[str]()
    for account, size in group:
        kinds[account.kind] += size
    return {"bytes": kinds.total(), "kind": kinds.most_common(1)[0][0]}


def _line(group: list[tuple[Account, int]]) -> dict[str, Any] | None:
    """The expression where all is held by one, the whole line where several hold it."""
    first = group[0][0]
    if first.code is None or len({account.instruction for account, _ in group}) == 1:
        return _place(first)
    return place_to_json(place_at(first.code.co_filename, line_of(first.code, first.instruction)))


def _place(account: Account) -> dict[str, Any] | None:
    return None if account.code is None else place_to_json(place_of(account.code, account.instruction))
