"""What a rehearsed program does to files, it alone sees."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Rehearse = Callable[..., Any]


def test_a_written_file_is_read_back_and_listed(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        with open("notes.txt", "w") as file:
            file.write("hello")
            assert file.name == "notes.txt"
        assert open("notes.txt").read() == "hello"
        """
    )
    assert seen.kept("write") == ["notes.txt"]


def test_an_old_file_keeps_its_text_whatever_is_done_to_it(rehearse: Rehearse, home: Path) -> None:
    for name in ("a", "b", "c", "d", "e"):
        (home / name).write_text("old\n")
    rehearse(
        """
        import os
        open("a", "a").write("new\\n")
        assert open("a").read() == "old\\nnew\\n"
        open("b", "w").write("new\\n")
        assert open("b").read() == "new\\n"
        with open("c", "r+") as file:
            file.seek(1)
            file.write("X")
        assert open("c").read() == "oXd\\n"
        os.truncate("d", 1)
        assert os.path.getsize("d") == 1
        os.remove("e")
        assert not os.path.exists("e") and sorted(os.listdir()) == ["a", "b", "c", "d"]
        """
    )


def test_a_checkpoint_is_saved_moved_listed_and_loaded(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import glob, os, torch
        os.makedirs("out/checkpoints", exist_ok=True)
        os.makedirs("out/checkpoints", exist_ok=True)
        torch.save({"w": torch.ones(3)}, "out/checkpoints/last.tmp")
        os.replace("out/checkpoints/last.tmp", "out/checkpoints/last.pt")
        assert os.path.exists("out/checkpoints/last.pt") and not os.path.exists("out/checkpoints/last.tmp")
        assert os.listdir("out") == ["checkpoints"] and glob.glob("out/**/*.pt") == ["out/checkpoints/last.pt"]
        assert torch.load("out/checkpoints/last.pt")["w"].sum() == 3
        assert torch.load("out/checkpoints/last.pt", mmap=True)["w"].sum() == 3
        torch.save(torch.ones(1), os.path.abspath("ключ.pt"))
        assert torch.load("ключ.pt").item() == 1
        torch.jit.script(torch.nn.ReLU()).save("script.pt")
        assert torch.jit.load("script.pt")(torch.tensor(-1.0)) == 0
        """
    )
    assert any(what.endswith("out/checkpoints/last.pt") for what in seen.kept("write"))


def test_the_next_rehearsal_finds_what_the_last_one_left(rehearse: Rehearse, home: Path) -> None:
    (home / "old").mkdir()
    (home / "old" / "x").write_text("x")
    (home / "gone.txt").write_text("x")
    rehearse(
        """
        import os, shutil, torch
        shutil.rmtree("old")
        os.remove("gone.txt")
        torch.save(1, "c.pt")
        """
    )
    rehearse(
        """
        import os, torch
        assert os.listdir(".") == ["c.pt"] and torch.load("c.pt") == 1
        os.mkdir("old")
        assert os.listdir("old") == []
        """
    )


def test_pathlib_writes_reads_and_removes(rehearse: Rehearse, home: Path) -> None:
    (home / "real.txt").write_text("real")
    rehearse(
        """
        from pathlib import Path
        folder = Path("a") / "b"
        folder.mkdir(parents=True)
        (folder / "x.txt").write_text("x")
        (folder / "y.bin").write_bytes(b"y")
        (folder / "t").touch()
        assert [path.name for path in sorted(Path(".").rglob("*"))] == ["a", "b", "t", "x.txt", "y.bin", "real.txt"]
        assert (folder / "x.txt").resolve().read_text() == "x" and (folder / "x.txt").stat().st_size == 1
        (folder / "x.txt").rename(folder / "z.txt")
        assert sorted(path.name for path in folder.iterdir()) == ["t", "y.bin", "z.txt"]
        (folder / "z.txt").unlink()
        (folder / "link").symlink_to("y.bin")
        assert (folder / "link").read_bytes() == b"y" and (folder / "link").is_symlink()
        Path("real.txt").unlink()
        assert not Path("real.txt").exists() and list(Path().glob("*.txt")) == []
        """
    )


def test_the_usual_writers_work(rehearse: Rehearse) -> None:
    rehearse(
        """
        import csv, gzip, json, logging, pickle, shelve, sqlite3, tarfile, zipfile
        logging.basicConfig(filename="train.log", level=logging.INFO, force=True)
        logging.info("begun")
        assert "begun" in open("train.log").read()
        with open("m.csv", "w", newline="") as file:
            csv.writer(file).writerow([1, 2])
        json.dump({"a": 1}, open("m.json", "w"))
        pickle.dump([1], open("m.pkl", "wb"))
        assert pickle.load(open("m.pkl", "rb")) == [1]
        with gzip.open("m.gz", "wt") as file:
            file.write("x")
        with zipfile.ZipFile("m.zip", "w") as archive:
            archive.write("m.csv")
        with tarfile.open("m.tar.gz", "w:gz") as archive:
            archive.add("m.csv")
        assert tarfile.open("m.tar.gz").getnames() == ["m.csv"] and zipfile.ZipFile("m.zip").namelist() == ["m.csv"]
        base = sqlite3.connect("m.db")
        base.execute("create table t (x)")
        base.commit()
        base.close()
        assert sqlite3.connect("file:m.db?mode=ro", uri=True).execute("select * from t").fetchall() == []
        with shelve.open("shelf") as shelf:
            shelf["a"] = 1
        """
    )


def test_numpy_writes_and_maps(rehearse: Rehearse, home: Path) -> None:
    import numpy as np

    np.save(home / "data.npy", np.arange(4))
    rehearse(
        """
        import numpy as np
        np.save("x.npy", np.ones(3))
        assert np.load("x.npy", mmap_mode="r").sum() == 3
        np.savez("x.npz", a=np.ones(3))
        assert np.load("x.npz")["a"].sum() == 3
        np.savetxt("x.txt", np.ones(3))
        np.ones(3).tofile("x.raw")
        assert np.fromfile("x.raw").sum() == 3
        np.memmap("map", dtype="f4", mode="w+", shape=4)[:] = 1
        assert np.memmap("map", dtype="f4", mode="r").sum() == 4
        np.load("data.npy", mmap_mode="r+")[0] = 7
        assert np.load("data.npy")[0] == 7
        """
    )


def test_safetensors_and_hdf5_are_redirected(rehearse: Rehearse) -> None:
    pytest.importorskip("safetensors")
    pytest.importorskip("h5py")
    rehearse(
        """
        import os, torch, h5py, numpy as np
        from safetensors import safe_open
        from safetensors.torch import load_file, save_file
        import safetensors.numpy
        save_file({"w": torch.ones(2)}, "w.safetensors", metadata={"a": "b"})
        assert load_file("w.safetensors")["w"].sum() == 2
        with safe_open("w.safetensors", framework="pt") as file:
            assert list(file.keys()) == ["w"]
        safetensors.numpy.save_file({"w": np.ones(2)}, os.path.abspath("n.safetensors"))
        assert safetensors.numpy.load_file("n.safetensors")["w"].sum() == 2
        with h5py.File("x.h5", "w") as file:
            file["a"] = np.ones(3)
        with h5py.File("x.h5") as file:
            assert file["a"][:].sum() == 3
        """
    )


def test_shutil_copies_moves_archives_and_removes(rehearse: Rehearse, home: Path) -> None:
    (home / "src" / "deep").mkdir(parents=True)
    (home / "src" / "deep" / "a.py").write_text("a = 1")
    (home / "src" / "link").symlink_to("deep")
    rehearse(
        """
        import os, shutil
        shutil.copytree("src", "copy")
        assert open("copy/deep/a.py").read() == open("copy/link/a.py").read() == "a = 1"
        shutil.copy("src/deep/a.py", "b.py")
        shutil.copy2("src/deep/a.py", "src/deep/c.py")
        assert sorted(os.listdir("src/deep")) == ["a.py", "c.py"]
        shutil.make_archive("archive", "zip", "src")
        assert os.path.getsize("archive.zip") > 0
        shutil.move("src", "moved")
        assert sorted(os.listdir("moved/deep")) == ["a.py", "c.py"] and not os.path.exists("src")
        assert sorted(os.listdir("moved/link")) == ["a.py", "c.py"]
        shutil.rmtree("moved")
        shutil.rmtree("copy", ignore_errors=True)
        assert sorted(os.listdir()) == ["archive.zip", "b.py"]
        """
    )


def test_temporary_files_are_not_listed(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import os, shutil, tempfile
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "x"), "w").write("x")
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write("x")
        shutil.move(file.name, "kept.txt")
        assert open("kept.txt").read() == "x"
        with tempfile.TemporaryFile() as file:
            file.write(b"x")
        assert not os.path.exists(folder)
        """
    )
    assert [os.path.basename(what) for what in seen.kept("write")] == ["kept.txt"]


def test_the_errors_are_those_of_the_real_file_system(rehearse: Rehearse, home: Path) -> None:
    (home / "full").mkdir()
    (home / "full" / "x").write_text("x")
    (home / "file").write_text("x")
    rehearse(
        """
        import os
        def error(call, *args):
            try:
                call(*args)
            except OSError as error:
                return type(error).__name__, error.filename
        open("new", "w").close()
        assert error(open, "no/such/file", "w") == ("FileNotFoundError", "no/such/file")
        assert error(open, "missing") == ("FileNotFoundError", "missing")
        assert error(open, "missing", "r+") == ("FileNotFoundError", "missing")
        assert error(open, "full", "w") == ("IsADirectoryError", "full")
        assert error(open, "file", "x") == ("FileExistsError", "file")
        assert error(open, "new", "x") == ("FileExistsError", "new")
        assert error(open, "file/x", "w") == ("NotADirectoryError", "file/x")
        assert error(os.mkdir, "full") == ("FileExistsError", "full")
        assert error(os.rmdir, "full") == ("OSError", "full")
        assert error(os.remove, "missing") == ("FileNotFoundError", "missing")
        assert error(os.remove, "full") == ("IsADirectoryError", "full")
        assert error(os.rename, "missing", "other") == ("FileNotFoundError", "missing")
        assert error(os.listdir, "missing") == ("FileNotFoundError", "missing")
        os.remove("file")
        assert error(os.stat, "file") == ("FileNotFoundError", "file")
        """
    )


def test_a_program_may_work_in_a_folder_it_has_made(rehearse: Rehearse, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "x").write_text("x")
    rehearse(
        """
        import os, torch
        start = os.getcwd()
        os.makedirs("runs/1")
        os.chdir("runs/1")
        assert os.getcwd() == os.path.join(start, "runs", "1")
        torch.save(1, "model.pt")
        assert torch.load("model.pt") == 1 and os.listdir() == ["model.pt"] and os.path.abspath("a").startswith(start)
        assert open("../../data/x").read() == "x"
        os.chdir("../../data")
        open("y", "w").close()
        assert sorted(os.listdir()) == ["x", "y"] and sorted(e.name for e in os.scandir(".")) == ["x", "y"]
        assert os.path.exists(os.path.join(start, "runs/1/model.pt"))
        """
    )


def test_links_lead_to_the_same_file_on_both_ways(rehearse: Rehearse, home: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (home / "data").symlink_to(tmp_path / "disk")
    rehearse(
        f"""
        import os
        open("data/x", "w").write("x")
        assert open({str(tmp_path / "disk" / "x")!r}).read() == "x"
        os.symlink("x", "data/latest")
        assert open("data/latest").read() == "x" and os.readlink("data/latest") == "x"
        os.replace("data/x", "data/y")
        assert os.path.lexists("data/latest") and not os.path.exists("data/latest")
        os.link("data/y", "hard")
        assert open("hard").read() == "x"
        """
    )
    assert not list((tmp_path / "disk").iterdir())


def test_descriptors_of_folders_work(rehearse: Rehearse, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "old").write_text("x")
    rehearse(
        """
        import os
        open("data/new", "w").close()
        folder = os.open("data", os.O_RDONLY)
        assert sorted(os.listdir(folder)) == ["new", "old"]
        os.unlink("old", dir_fd=folder)
        os.close(os.open("third", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
        assert sorted(os.listdir("data")) == ["new", "third"]
        assert sorted(names for _, _, names, _ in os.fwalk("data")) == [["new", "third"]]
        """
    )


def test_devices_and_streams_are_written_to_as_ever(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import os, sys
        open(os.devnull, "w").write("x")
        open("/dev/stdout", "w").write("to stdout\\n")
        os.write(1, b"by number\\n")
        read, write = os.pipe()
        open(write, "w").write("x")
        assert open(read).read() == "x"
        """
    )
    assert "to stdout" in seen.output
    assert "by number" in seen.output
    assert seen.kept_off == []


def test_a_module_the_program_writes_can_be_imported(rehearse: Rehearse) -> None:
    rehearse(
        """
        import importlib, os
        os.mkdir("made")
        open("made/__init__.py", "w").close()
        open("made/part.py", "w").write("value = 3")
        importlib.invalidate_caches()
        from made.part import value
        assert value == 3
        """
    )


def test_names_taken_before_the_rehearsal_are_redirected_too(rehearse: Rehearse, home: Path) -> None:
    (home / "x").write_text("x")
    rehearse("import tarfile; tarfile.bltn_open('y', 'w').close(); from os import remove; remove('x')")


def test_what_slips_past_is_refused_by_python_itself(rehearse: Rehearse, home: Path) -> None:
    (home / "x").write_text("x")
    rehearse(
        """
        import _io, posix
        for act in (
            lambda: _io.FileIO("new", "w"),
            lambda: _io.open("x", "a"),
            lambda: posix.remove("x"),
            lambda: posix.mkdir("folder"),
            lambda: posix.rename("x", "y"),
            lambda: posix.open("x", posix.O_RDWR),
        ):
            try:
                act()
            except PermissionError:
                continue
            raise AssertionError("it was let through")
        """,
        for_good=False,
    )


def _kernel_locks() -> bool:
    return sys.platform.startswith("linux") and int(ctypes.CDLL(None).syscall(444, None, 0, 1)) >= 2


@pytest.mark.skipif(not _kernel_locks(), reason="this kernel has no lock for a process to put on itself")
def test_what_python_does_not_see_is_refused_by_the_kernel(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import ctypes
        libc = ctypes.CDLL(None)
        print("made", libc.mkdir(b"by_c", 0o777), "descriptor", libc.creat(b"by_c.txt", 0o666))
        """
    )
    assert "made -1 descriptor -1" in seen.output
