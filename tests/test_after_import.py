"""What is to be done to a library is done when the program has imported it, by whatever way it does that."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sleuth.frameworks.after_import import AfterImport

NAME = "a_library_of_the_program"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / f"{NAME}.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield NAME
    sys.modules.pop(NAME, None)


@pytest.fixture
def imports() -> Iterator[AfterImport]:
    waiting = AfterImport()
    waiting.install()
    yield waiting
    waiting.remove()


def answers(imports: AfterImport, again: bool = False) -> list[int]:
    """What the library's `answer` is at each call back."""
    heard: list[int] = []
    imports.of(NAME, lambda: heard.append(sys.modules[NAME].answer), again)
    return heard


def test_a_look_up_is_no_import(library: str, imports: AfterImport) -> None:
    heard = answers(imports)
    assert importlib.util.find_spec(library) is not None
    assert importlib.util.find_spec(library) is not None
    assert heard == []
    importlib.import_module(library)
    assert heard == [42]


def test_a_reload_is_told_to_who_asks_for_it(library: str, imports: AfterImport) -> None:
    once, each_time = answers(imports), answers(imports, again=True)
    module = importlib.import_module(library)
    importlib.reload(module)
    assert (once, each_time) == ([42], [42, 42])


def test_an_import_anew_is_told_to_who_asks_for_it(library: str, imports: AfterImport) -> None:
    heard = answers(imports, again=True)
    importlib.import_module(library)
    del sys.modules[library]
    importlib.import_module(library)
    assert heard == [42, 42]


def test_a_lazy_module_is_told_when_it_is_used(library: str, imports: AfterImport) -> None:
    heard = answers(imports)
    spec = importlib.util.find_spec(library)
    assert spec is not None
    assert spec.loader is not None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[library] = module
    spec.loader.exec_module(module)
    assert heard == []
    assert module.answer == 42
    assert heard == [42]


def test_an_import_in_a_thread_is_told(library: str, imports: AfterImport) -> None:
    heard = answers(imports)
    thread = threading.Thread(target=importlib.import_module, args=(library,))
    thread.start()
    thread.join()
    assert heard == [42]


def test_a_library_in_a_zip_file_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports: AfterImport
) -> None:
    with zipfile.ZipFile(tmp_path / "libraries.zip", "w") as archive:
        archive.writestr(f"{NAME}.py", "answer = 42\n")
        archive.writestr(f"{NAME}_too.py", "answer = 43\n")
    monkeypatch.syspath_prepend(str(tmp_path / "libraries.zip"))
    heard = answers(imports)
    importlib.util.find_spec(NAME)
    importlib.import_module(f"{NAME}_too")
    assert heard == []
    importlib.import_module(NAME)
    assert heard == [42]
    del sys.modules[NAME], sys.modules[f"{NAME}_too"]


def test_a_finder_of_the_program_may_ask_importlib_itself(library: str, imports: AfterImport) -> None:
    class Asking:
        asked = 0

        @classmethod
        def find_spec(cls, name: str, path: object, target: object = None) -> object:
            if name != library or cls.asked:
                return None
            cls.asked += 1
            return importlib.util.find_spec(name)

    heard = answers(imports)
    sys.meta_path.insert(1, Asking)  # type: ignore[arg-type]
    try:
        importlib.import_module(library)
    finally:
        sys.meta_path.remove(Asking)  # type: ignore[arg-type]
    assert heard == [42]
    assert Asking.asked


def test_a_library_that_cannot_be_imported_is_not_told(tmp_path: Path, library: str, imports: AfterImport) -> None:
    heard = answers(imports)
    (tmp_path / f"{NAME}.py").write_text("raise ImportError('broken')\n")
    with pytest.raises(ImportError, match="broken"):
        importlib.import_module(library)
    assert heard == []


def test_what_is_here_already_is_told_at_once(library: str, imports: AfterImport) -> None:
    importlib.import_module(library)
    assert answers(imports) == [42]
