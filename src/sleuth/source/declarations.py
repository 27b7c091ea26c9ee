"""The files in which a project says which versions of a library it wants, each read in its own language."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from sleuth.source.versions import ANYTHING, Allowed, following, release, specifier, trimmed, written

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(.*)", re.DOTALL)
_WHEEL = re.compile(r"[/%]([A-Za-z0-9_.]+)-(\d[^-/]*)-[^/]*\.whl")
_INLINE = re.compile(r"^# /// script\s*\n((?:#.*\n)*?)# ///\s*$", re.MULTILINE)
_LOCKED = re.compile(r'^name = "([^"]+)"\r?\nversion = "([^"]+)"', re.MULTILINE)
_CONDA = re.compile(r"^\s*-\s+[\"']?(?:[\w.-]+::)?([A-Za-z][\w.-]*)[ \t]*([^#\"'\n]*)", re.MULTILINE)

# Other names under which a library is installed.
_SAME_LIBRARY: Final = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-macos": "tensorflow",
    "intel-tensorflow": "tensorflow",
    "pytorch-lightning": "lightning",
    "keras-gpu": "keras",
}


def library_of(distribution: str) -> str:
    """The one name we use for everything that installs the same library."""
    name = re.sub(r"[-_.]+", "-", distribution).lower()
    return _SAME_LIBRARY.get(name, name)


Statement = tuple[str, Allowed]
Reader = Callable[[str], Iterable[Statement]]


def reader_of(name: str) -> Reader | None:
    if name.endswith((".txt", ".in")) and ("requirements" in name or "constraints" in name):
        return requirements
    if name.endswith((".yml", ".yaml")) and name.startswith(("environment", "conda", "env")):
        return _environment
    return _READERS.get(name)


def _requirement(line: str) -> Statement | None:
    """One line of PEP 508: `torch[extra] >=2.1 ; python_version > "3.8"`, or `torch @ https://…/torch-2.1-….whl`."""
    found = _NAME.match(line)
    if not found:
        return None
    wheel = _WHEEL.search(line)
    if wheel:
        return wheel[1], Allowed(release(wheel[2]), release(wheel[2]))
    return found[1], specifier(found[2]) if "@" not in found[2] else ANYTHING


def _stated(lines: Iterable[Any]) -> Iterator[Statement]:
    """The requirements among the lines. Those that hold on some machines only are alternatives to each other."""
    conditional: dict[str, Allowed] = {}
    for line in lines:
        if not isinstance(line, str):
            continue
        statement = _requirement(line)
        if statement is None:
            continue
        name, allowed = library_of(statement[0]), statement[1]
        if ";" in line:
            conditional[name] = conditional[name] | allowed if name in conditional else allowed
        else:
            yield name, allowed
    yield from conditional.items()


def requirements(text: str) -> Iterator[Statement]:
    lines = text.replace("\\\n", " ").splitlines()
    return _stated(re.split(r"\s#|^#|\s--hash", line)[0] for line in lines if not line.lstrip().startswith("-"))


def _pyproject(text: str) -> Iterator[Statement]:
    data = tomllib.loads(text)
    project = data.get("project", {})
    yield from _stated(project.get("dependencies", ()))
    for lines in project.get("optional-dependencies", {}).values():
        yield from _stated(lines)
    for lines in data.get("dependency-groups", {}).values():
        yield from _stated(lines)
    tool = data.get("tool", {})
    yield from _stated(tool.get("uv", {}).get("dev-dependencies", ()))
    for lines in tool.get("pdm", {}).get("dev-dependencies", {}).values():
        yield from _stated(lines)
    poetry = tool.get("poetry", {})
    yield from _table(poetry.get("dependencies", {}))
    yield from _table(poetry.get("dev-dependencies", {}))
    for group in poetry.get("group", {}).values():
        yield from _table(group.get("dependencies", {}))
    yield from _table(tool.get("pixi", {}).get("dependencies", {}))


def inline(text: str) -> Iterator[Statement]:
    """The dependencies that a script names in its own head (PEP 723)."""
    for found in _INLINE.finditer(text):
        lines = (line[2:] if line.startswith("# ") else "" for line in found[1].splitlines())
        yield from _stated(tomllib.loads("\n".join(lines)).get("dependencies", ()))


def _table(dependencies: Mapping[str, Any]) -> Iterator[Statement]:
    """The tables of Poetry, Pipenv and Pixi: `torch = "^2.1"`, `torch = {version = "*", …}` or a list of those."""
    for name, value in dependencies.items():
        choices = [_table_entry(entry) for entry in (value if isinstance(value, list) else [value])]
        allowed = choices[0] if choices else ANYTHING
        for choice in choices[1:]:
            allowed |= choice
        yield name, allowed


def _table_entry(value: Any) -> Allowed:
    if isinstance(value, Mapping):
        wheel = _WHEEL.search(str(value.get("url", "")))
        if wheel:
            return Allowed(release(wheel[2]), release(wheel[2]))
        value = value.get("version", "*")
    text = str(value).strip()
    allowed = ANYTHING
    for clause in text.split("||")[0].split(","):
        allowed = (allowed & _poetry_clause(clause.strip())) or allowed
    return allowed


def _poetry_clause(clause: str) -> Allowed:
    numbers = written(clause.lstrip("^~= "))
    if clause.startswith(("~=", "<", ">", "!")) or not numbers:
        return specifier(clause)
    if clause.startswith("^"):
        significant = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        return Allowed(trimmed(numbers), following(numbers[: significant + 1]), True)
    if clause.startswith("~"):
        return Allowed(trimmed(numbers), following(numbers[:2]), True)
    if clause.endswith("*"):
        return Allowed(trimmed(numbers), following(numbers), True)
    return Allowed(trimmed(numbers), trimmed(numbers))


def _pipfile(text: str) -> Iterator[Statement]:
    data = tomllib.loads(text)
    for section in ("packages", "dev-packages"):
        yield from _table(data.get(section, {}))


def _pixi(text: str) -> Iterator[Statement]:
    data = tomllib.loads(text)
    yield from _table(data.get("dependencies", {}))
    yield from _table(data.get("pypi-dependencies", {}))


def _setup_cfg(text: str) -> Iterator[Statement]:
    config = configparser.RawConfigParser()
    config.read_string(text)
    if config.has_option("options", "install_requires"):
        yield from _stated(config.get("options", "install_requires").splitlines())
    if config.has_section("options.extras_require"):
        for _, lines in config.items("options.extras_require"):
            yield from _stated(lines.splitlines())


def _setup_py(text: str) -> Iterator[Statement]:
    """The literal strings given as install_requires and extras_require, directly or through a name or a list."""
    tree = ast.parse(text)
    named = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("install_requires", "extras_require"):
            yield from _stated(_strings(node.value, named))


def _strings(node: ast.AST, named: Mapping[str, ast.expr], depth: int = 6) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    inside: list[Any] = []
    if isinstance(node, ast.Dict):
        inside = node.values
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        inside = node.elts
    elif isinstance(node, ast.BinOp):
        inside = [node.left, node.right]
    elif isinstance(node, ast.Name) and node.id in named:
        inside = [named[node.id]]
    for one in inside if depth else ():
        yield from _strings(one, named, depth - 1)


def _environment(text: str) -> Iterator[Statement]:
    """A conda environment: `- pytorch=1.13`, `- pytorch::pytorch>=2`, `- torch==2.1.0` under `pip:`."""
    for name, rest in _CONDA.findall(text):
        version = rest.strip()
        # Conda writes the build after a second `=`: pytorch=1.4=py3.7_cuda10.
        pinned = re.match(r"=\s*([0-9][^=\s]*)\s*(=.*)?$", version)
        yield name, specifier(f"={pinned[1]}" if pinned else version)


def locked(text: str) -> Iterator[Statement]:
    for name, version in _LOCKED.findall(text):
        yield name, Allowed(release(version), release(version))


_READERS: Final[dict[str, Reader]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "Pipfile": _pipfile,
    "pixi.toml": _pixi,
    "uv.lock": locked,
    "poetry.lock": locked,
    "pdm.lock": locked,
}
