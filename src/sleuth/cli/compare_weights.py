"""`sleuth compare --weights`: two files of weights, array by array."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from sleuth.cli.outlet import Outlet
    from sleuth.compare.weights.folding import Fold
    from sleuth.compare.weights.matching import Match, Matching

_DIAGNOSIS = "weights-stale"
_MOST = 40


def compare_weights(args: Namespace, outlet: Outlet) -> int:
    from sleuth.cli import files, streams
    from sleuth.compare.weights.code import conversion
    from sleuth.compare.weights.matching import match
    from sleuth.compare.weights.reading import read

    first, second = (read(path, args.trust) for path in args.models)
    found = match(first, second)
    code = conversion(found, second)
    if args.code:
        files.write(args.code, code)
    if outlet.format == "json":
        outlet.write(_json(args, found, code))
    else:
        outlet.write("\n".join(_lines(args.models, found, code, bool(args.code))))
    if not found.same:
        streams.note(_verdict(found))
    return 0 if found.same else 1


def _lines(names: list[str], found: Matching, code: str, written: bool) -> Iterator[str]:
    yield f"{names[0]} and {names[1]}: {_verdict(found)}"
    folded = [one for one in found.matches if one.fold is not None and one.name == one.fold.folded_weight]
    changed = [one for one in found.matches if one.fold is None and (one.how != "same" or not one.change.nothing)]
    plain = [one for one in found.matches if one.fold is None and one not in changed]
    shown = [*folded, *changed]
    renamed = [one for one in plain if one.sources != (one.name,)]
    if plain:
        yield f"  {len(plain)} as they are" + (f", {len(renamed)} of them under another name" if renamed else "")
    yield from (f"  {_told(one)}" for one in shown[:_MOST])
    if len(shown) > _MOST:
        yield f"  and {len(shown) - _MOST} more"
    yield from (f"  {_told_apart(fold, names)}" for fold in found.unfolded[:_MOST])
    yield from (f"  missing: {name} of {names[0]} is nowhere in {names[1]}" for name in found.missing[:_MOST])
    yield from (f"  extra: {name} of {names[1]} is made of nothing in {names[0]}" for name in found.extra[:_MOST])
    if (shown or renamed) and not written:
        yield ""
        yield code.rstrip()


def _verdict(found: Matching) -> str:
    same = sum(one.how not in ("differs", "folded") for one in found.matches)
    other = sum(one.how == "differs" for one in found.matches)
    folds = len({one.fold for one in found.matches if one.fold is not None}) + len(found.unfolded)
    told = [f"{same} arrays hold the same numbers"] if same or not folds else []
    told += [f"{folds} layer{'s' if folds > 1 else ''} with batch normalisation folded in"] if folds else []
    told += [f"{other} other numbers"] if other else []
    told += [f"{len(found.missing)} missing"] if found.missing else []
    told += [f"{len(found.extra)} extra"] if found.extra else []
    return ", ".join(told)


def _told_apart(fold: Fold, names: list[str]) -> str:
    whole = f"{fold.folded_weight} and {fold.folded_bias} of {names[0]}"
    return f"{whole} are {fold.weight} of {names[1]} with {fold.norm.name} folded in (epsilon {fold.epsilon:.3g})"


def _told(one: Match) -> str:
    if one.fold is not None:
        layout = "" if one.change.nothing else f", {one.change.says()}"
        both = f"{one.name} and {one.fold.folded_bias}"
        folded = f"{one.fold.weight} with {one.fold.norm.name} folded in (epsilon {one.fold.epsilon:.3g})"
        return f"{both} = {folded}{layout}"
    made = " and ".join(one.sources) + (f" from {one.cut.says()}" if one.how == "cut" and one.cut is not None else "")
    joined = {"joined": " joined", "added": " added up"}.get(one.how, "")
    remark = {"rounded": f" (rounded: off by {one.off:.1g})", "differs": f" (OTHER NUMBERS: off by {one.off:.2g})"}
    changed = (
        one.parts[0].says() if len(set(one.parts)) == 1 else one.change.says() if not one.parts else "each changed"
    )
    return f"{one.name} = {made}{joined}, {changed}{remark.get(one.how, '')}"


def _json(args: Namespace, found: Matching, code: str) -> str:
    import json

    matches = [
        {
            "name": one.name,
            "sources": list(one.sources),
            "how": one.how,
            "off": one.off,
            "blocks": list(one.change.blocks),
            "axes": list(one.change.axes),
            "flipped": list(one.change.flipped),
            "shape": list(one.change.shape or ()),
            "along": one.change.along,
            "regrouped": one.change.regrouped,
            "folded": None if one.fold is None else one.fold.norm.name,
            "cut": [one.cut.start, one.cut.end, "last" if one.cut.last else "first"] if one.cut is not None else None,
        }
        for one in found.matches
    ]
    told = {"same": found.same, "matches": matches, "missing": found.missing, "extra": found.extra, "code": code}
    told["unfolded"] = [[fold.folded_weight, fold.weight, fold.norm.name] for fold in found.unfolded]
    whole = {"schema": 1, "command": "compare", "program": " and ".join(args.models), "exit": 0 if found.same else 1}
    return json.dumps({**whole, "findings": [], "weights": told}, indent=2)
