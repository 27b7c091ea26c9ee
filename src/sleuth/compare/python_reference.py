"""What the user names by `package.module:name` or `file.py:name`, imported as Python itself would."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import itertools
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from sleuth.compare.side import CannotCompare
from sleuth.program import is_users, shown_path

# So many names are offered where the one asked for is not there.
_MOST_OFFERED = 6


def split(spec: str) -> tuple[str, str] | None:
    """`model.py` and `Net` of `model.py:Net`; None where it is no such reference. A drive's colon is none."""
    before, colon, name = spec.rpartition(":")
    if not colon or not before or not all(part.isidentifier() for part in name.split(".")):
        return None
    return before, name


def resolve(where: str, name: str) -> Any:
    """The object of this (dotted) name in that file or module."""
    found: Any = imported(where)
    for step, part in enumerate(name.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            owner = where if not step else f"{where}:{'.'.join(name.split('.')[:step])}"
            raise CannotCompare(_no_such_name(owner, found, part)) from None
    return found


def imported(where: str) -> ModuleType:
    return _from_file(Path(where)) if where.endswith(".py") or os.sep in where else _from_name(where)


def called(function: Callable[..., Any], shown: str) -> Any:
    """What a function or class without arguments gives, an error in it told by the user's own line."""
    needed = _needs(function)
    if needed:
        raise CannotCompare(
            f"{shown} needs arguments ({', '.join(needed)}): name a function without arguments that returns the model"
        )
    return in_users_words(function, f"{shown} fails")


def in_users_words(act: Callable[[], Any], what: str) -> Any:
    """What `act` gives; what goes wrong in it is one line that begins with the user's own file and line."""
    try:
        return act()
    except CannotCompare:
        raise
    except SyntaxError as error:
        raise CannotCompare(f"{shown_path(error.filename or '?')}:{error.lineno}: syntax error: {error.msg}") from None
    except SystemExit as end:
        raise CannotCompare(
            f"{_at(end)}{what}: it ends the program; put that under `if __name__ == '__main__':`"
        ) from None
    except Exception as error:
        raise CannotCompare(told(error, what)) from None


def told(error: Exception, what: str) -> str:
    """One line for what the user's code raised."""
    at = _at(error)
    first = next(iter(str(error).strip().splitlines()), "")
    if needs_a_gpu(error):
        return f"{at}needs a GPU, and there is none here: {first}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{at}{what}: it needs {error.name}, which is not installed"
    return f"{at}{what}: {type(error).__name__}{': ' if first else ''}{first}"


def _at(error: BaseException) -> str:
    """The innermost line of the user's own."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users(frame.filename)]
    return f"{shown_path(own[-1].filename)}:{own[-1].lineno}: " if own else ""


def needs_a_gpu(error: BaseException) -> bool:
    """PyTorch's words where there is no CUDA, in all its ways of saying it."""
    words = str(error)
    return isinstance(error, RuntimeError | AssertionError | NotImplementedError) and any(
        sign in words for sign in ("CUDA", "NVIDIA", "'cuda'", "HIP GPU", "MPS backend")
    )


def _needs(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in parameters if one.default is inspect.Parameter.empty and one.kind not in open_ended]


def _from_file(path: Path) -> ModuleType:
    if path.is_dir():
        raise CannotCompare(f"{path} is a folder; name the file in it")
    if not path.is_file():
        near = difflib.get_close_matches(path.name, [one.name for one in _neighbours(path)], 1)
        raise CannotCompare(f"{path}: no such file" + (f"; did you mean {path.parent / near[0]}?" if near else ""))
    path = path.absolute()
    root, dotted = _package_of(path)
    name = _free_name(dotted, path)
    if name in sys.modules and _file_of(sys.modules[name]) == os.path.realpath(path):
        return sys.modules[name]
    with on_the_path(root):
        module: ModuleType = in_users_words(lambda: _loaded(path, name), f"{path.name} cannot be imported")
        return module


def _free_name(dotted: str, path: Path) -> str:
    """The name it has already, or else its own, or, where a file elsewhere is called so, one with a number."""
    if "." in dotted:
        return dotted
    names = itertools.chain([dotted], (f"{dotted}_{count}" for count in itertools.count(2)))
    return next(
        name for name in names if name not in sys.modules or _file_of(sys.modules[name]) == os.path.realpath(path)
    )


def _neighbours(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.py")) if path.parent.is_dir() else []


def _from_name(name: str) -> ModuleType:
    with on_the_path(Path.cwd()):
        try:
            known = importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            known = False
        if not known:
            hint = f"; for a file, write {name}.py" if Path(f"{name}.py").is_file() else ""
            raise CannotCompare(f"there is no module {name}{hint}")
        module: ModuleType = in_users_words(lambda: importlib.import_module(name), f"{name} cannot be imported")
        return module


def _package_of(path: Path) -> tuple[Path, str]:
    """The folder to import from, and the module's dotted name seen from there."""
    names = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if names[-1] == "__init__" and len(names) > 1:
        names.pop()
    return folder, ".".join(names)


def _loaded(path: Path, name: str) -> ModuleType:
    if "." in name:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


@contextmanager
def on_the_path(folder: Path) -> Iterator[None]:
    """This folder first, and its own modules rather than those of the same name of the model on the other side.

    The folder stays on the path, last, for what the user's code imports only when it is called."""
    others = {name: module for name, module in list(sys.modules.items()) if _is_another(name.partition(".")[0], folder)}
    for name in others:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        sys.modules.update(others)


def _is_another(name: str, folder: Path) -> bool:
    """A user's module that a file or package in this folder would be taken for, were it imported first."""
    module = sys.modules.get(name)
    file = _file_of(module) if module is not None else None
    if file is None or not is_users(file) or file.startswith(os.path.realpath(folder) + os.sep):
        return False
    return (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file()


def _file_of(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else None


def _no_such_name(owner: str, found: Any, name: str) -> str:
    names = [one for one in dir(found) if not one.startswith("_")]
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f"{owner} has no {name}; did you mean {owner}{'.' if ':' in owner else ':'}{near[0]}?"
    if isinstance(found, ModuleType):
        own = own_names(found)
        return f"{owner} has no {name}" + (f"; it has {', '.join(own)}" if own else "")
    return f"{owner} has no {name}"


def own_names(module: ModuleType) -> list[str]:
    """What the module itself defines and could be meant, the first few."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and callable(value)
        and getattr(value, "__module__", module.__name__) == module.__name__
    ]
    return own[:_MOST_OFFERED]
