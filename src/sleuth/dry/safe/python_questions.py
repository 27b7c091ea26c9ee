"""`python -c "import sys; print(sys.path)"`: a Python that is started only to be asked about itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?")
# They change what Python reads at its start, and nothing else.
_OPTIONS = frozenset("-B -E -I -P -S -s -u".split())
_VERSIONS = (["-V"], ["-VV"], ["--version"])
_MODULES = frozenset("json os platform site struct sys sysconfig".split())
# Calls that only answer. Of these modules every function does whose name begins so.
_ANSWERS = frozenset(
    "json.dumps len list max min repr sorted str struct.calcsize os.getcwd os.path.abspath os.path.basename"
    " os.path.dirname os.path.exists os.path.join os.path.realpath sys.getdefaultencoding"
    " sys.getfilesystemencoding".split()
)
_ANSWERING = re.compile(r"(?:platform\.[a-z]\w*|sysconfig\.(?:get|is)_\w+|site\.get\w+)")
_SAYING = ("print", "sys.stdout.write")
_PLAIN = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.JoinedStr),
    *(ast.FormattedValue, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword),
    *(ast.expr_context, ast.operator, ast.boolop, ast.cmpop),
)


def is_python(name: str) -> bool:
    return _PYTHON.fullmatch(name) is not None


def only_asks(arguments: Sequence[str]) -> bool:
    """Does Python, given these, say something about itself and do nothing more?"""
    rest = list(arguments)
    while rest and rest[0] in _OPTIONS:
        rest.pop(0)
    if rest in _VERSIONS:
        return True
    return len(rest) == 2 and rest[0] == "-c" and _only_says(rest[1])


def _only_says(code: str) -> bool:
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError):
        return False
    return all(map(_is_harmless, statements))


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return all(one.name in _MODULES and one.asname is None for one in statement.names)
    said = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(said, ast.Call) or _dotted(said.func) not in _SAYING or said.keywords:
        return False
    return all(_is_an_answer(argument) for argument in said.args)


def _is_an_answer(expression: ast.expr) -> bool:
    for node in ast.walk(expression):
        if not isinstance(node, _PLAIN):
            return False
        if isinstance(node, ast.Call) and not _only_answers(node.func):
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return False
    return True


def _only_answers(func: ast.expr) -> bool:
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Constant):  # ", ".join(...)
        return isinstance(func.value.value, str)
    name = _dotted(func)
    return name in _ANSWERS or _ANSWERING.fullmatch(name) is not None


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
