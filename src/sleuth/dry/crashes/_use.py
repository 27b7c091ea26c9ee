"""A fix at the place where the user's line mentions a tensor: `.float()` behind its name."""

from __future__ import annotations

import ast

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene
from sleuth.findings import Fix


def followed_by(crash: Crash, birth: Birth, words: str, otherwise: str) -> Fix:
    """The tensor's name with these words behind it. Where it has no name, the title with `otherwise` instead."""
    named = _scene.spelling(crash, birth)
    if named is None:
        return Fix(f"{_scene.nearest_name(crash, birth) or otherwise}{words}")
    node = _mention(named)
    edits = () if node is None else (_edits.put_behind(named.spot.code.co_filename, node, words),)
    return Fix(f"{named.text}{words}", edits)


def _mention(named: _scene.Spelling) -> ast.expr | None:
    """The one mention of the name in the expression that failed."""
    around = _scene.expression(named.spot.code, named.spot.instruction)
    if around is None:
        return None
    wanted = ast.unparse(ast.parse(named.text, mode="eval").body)
    mentions = [node for node in ast.walk(around) if isinstance(node, ast.expr) and ast.unparse(node) == wanted]
    return mentions[0] if len(mentions) == 1 else None
