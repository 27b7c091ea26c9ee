"""A rehearsed program reaches no other machine and starts no other program."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.dry.safe.harmless import harmless, harmless_line

Rehearse = Callable[..., Any]


def test_a_public_host_is_out_of_reach_at_once(rehearse: Rehearse) -> None:
    began = time.monotonic()
    seen = rehearse(
        """
        import socket, urllib.error, urllib.request
        from sleuth.dry.safe import refusals
        for host in ("http://example.org/data.zip", "https://93.184.216.34/"):
            try:
                urllib.request.urlopen(host)
            except urllib.error.URLError as error:
                assert "the network" in refusals.behind(error), error
            else:
                raise AssertionError("it was reached")
        try:
            socket.create_connection(("8.8.8.8", 53))
        except OSError as error:
            assert error.errno == 101, error
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            try:
                udp.sendto(b"x", ("8.8.8.8", 53))
            except OSError as error:
                assert error.errno == 101, error
        """
    )
    assert seen.kept("network") == ["example.org", "93.184.216.34:443", "8.8.8.8:53"]
    assert time.monotonic() - began < 5


def test_this_machine_is_within_reach(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
        with socket.create_connection(("localhost", server.getsockname()[1])) as client:
            assert client.recv(5) == b"hello"
        """
    )
    assert seen.kept_off == []


def test_a_library_that_looks_up_names_by_event_loop_is_refused(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import asyncio
        async def fetch():
            await asyncio.open_connection("example.org", 80)
        try:
            asyncio.run(fetch())
        except OSError as error:
            print("refused", error)
        """
    )
    assert "refused" in seen.output
    assert seen.kept("network") == ["example.org"]


def test_other_programs_are_pretended_and_listed(rehearse: Rehearse, home: Path) -> None:
    (home / "x").write_text("x")
    seen = rehearse(
        """
        import os, subprocess, sys
        assert os.system("shred x") == 0
        assert subprocess.run(["install", "x", "y"], check=True).returncode == 0
        assert subprocess.check_output("rm -rf . > log", shell=True, text=True) == ""
        assert subprocess.call([sys.executable, "-c", "open('z', 'w')"]) == 0
        pipe = subprocess.PIPE
        process = subprocess.Popen(["mail", "me"], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)
        process.stdin.write(b"x" * 100_000)
        assert process.communicate(b"more") == (b"", None) and process.poll() == 0
        process.kill()
        with os.popen("curl example.org") as answer:
            assert answer.read() == ""
        child = os.fork()
        assert child > 0 and os.waitpid(child, 0) == (child, 0)
        assert os.spawnlp(os.P_WAIT, "rm", "rm", "x") == 0
        assert open("x").read() == "x"
        os.kill(1, 15)
        """
    )
    assert seen.kept("process")[:3] == ["shred x", "install x y", "rm -rf . > log"]
    assert len(seen.kept("process")) == 8
    assert seen.kept("signal") == ["process 1"]


def test_programs_that_only_ask_are_answered(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import os, platform, subprocess
        assert subprocess.check_output(["uname"], text=True) == os.uname().sysname + "\\n"
        assert subprocess.getoutput("echo a | wc -l").strip() == "1"
        assert os.system("ls / > /dev/null 2>&1") == 0
        subprocess.run("nvidia-smi", shell=True, capture_output=True)
        assert subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True).returncode != 0
        """
    )
    assert seen.kept_off == []


def test_a_question_about_a_file_just_written_is_answered(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import subprocess
        open("lines", "w").write("a\\nb\\n")
        assert subprocess.check_output(["wc", "-l", "lines"]).split()[0] == b"2"
        assert subprocess.getoutput("wc -l lines") == ""
        """
    )
    assert seen.kept("process") == ["wc -l lines"]


def test_commands_that_tidy_folders_happen_in_the_scratch_folder(rehearse: Rehearse, home: Path) -> None:
    (home / "old").mkdir()
    (home / "old" / "x").write_text("x")
    seen = rehearse(
        """
        import os, subprocess
        assert os.system("mkdir -p runs/1 && cp old/* runs/1") == 0
        assert os.listdir("runs/1") == ["x"]
        assert subprocess.run("rm -rf old; mkdir old", shell=True).returncode == 0
        assert os.listdir("old") == []
        assert subprocess.call(["mv", "runs/1", "runs/2"]) == 0 and os.path.exists("runs/2/x")
        assert os.system("mkdir old") != 0
        subprocess.run(["touch", "runs/done"], check=True)
        assert sorted(os.listdir("runs")) == ["2", "done"]
        """
    )
    assert seen.kept("process") == []


def test_the_pretended_card_answers_for_itself(rehearse: Rehearse) -> None:
    rehearse(
        """
        import subprocess, torch, types
        torch.cuda.is_available, torch.cuda.device_count = lambda: True, lambda: 2
        torch.cuda.get_device_properties = lambda number: types.SimpleNamespace(name="Card", total_memory=24 << 30)
        ask = "nvidia-smi --query-gpu=index,memory.free --format=csv,noheader,nounits"
        assert subprocess.check_output(ask.split(), text=True) == "0, 24576\\n1, 24576\\n"
        assert subprocess.getoutput(ask).splitlines() == ["0, 24576", "1, 24576"]
        """
    )


def test_a_program_that_replaces_itself_cannot_go_on(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import os, sys
        from sleuth.dry.stage import CannotGoOn
        try:
            os.execvp("python", ["python", "train.py", "--again"])
        except CannotGoOn as error:
            print(error)
        """
    )
    assert "replaces itself by `python train.py --again`" in seen.output


def test_processes_of_multiprocessing_are_not_started(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import concurrent.futures, multiprocessing, os, torch
        def work(number=0):
            return number + 1, os.getpid()
        process = multiprocessing.Process(target=work)
        process.start()
        process.join()
        assert process.exitcode == 0 and not process.is_alive()
        torch.multiprocessing.spawn(work, nprocs=2)
        with multiprocessing.Pool(4) as pool:
            assert pool.map(work, [1, 2]) == [(2, os.getpid()), (3, os.getpid())]
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            assert pool.apply(work, (1,))[0] == 2
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            assert list(pool.map(work, [1, 2])) == [(2, os.getpid()), (3, os.getpid())]
        with multiprocessing.Manager() as manager:
            shared = manager.dict(a=1)
            assert shared["a"] == 1
        queue = multiprocessing.Queue()
        queue.put(1)
        assert queue.get(timeout=5) == 1
        """
    )
    started, spawned, *pools = seen.kept("process")
    assert [started, spawned] == ["multiprocessing.Process work", "multiprocessing.Process _wrap"]
    assert pools == [f"multiprocessing.Pool of {many}, whose work is done in this one" for many in (4, 2)]


def test_trackers_are_kept_quiet_and_listed(rehearse: Rehearse, home: Path) -> None:
    (home / "wandb").mkdir()
    (home / "wandb" / "__init__.py").write_text(
        "import os\n"
        "def init(project):\n"
        "    assert os.environ['WANDB_MODE'] == 'disabled'\n"
        "    os.makedirs('wandb/run-1')\n"
        "    open('wandb/run-1/log', 'w').write(project)\n"
    )
    seen = rehearse("import wandb; wandb.init(project='mine')")
    assert seen.kept("tracker") == ["wandb.init"]
    assert seen.kept("write") == ["wandb/run-1/log"]


def test_a_python_that_is_asked_about_itself_answers(rehearse: Rehearse) -> None:
    seen = rehearse(
        """
        import json, subprocess, sys
        asked = [sys.executable, "-c", "import sys, json; print(json.dumps(sys.path))"]
        assert all(isinstance(one, str) for one in json.loads(subprocess.check_output(asked)))
        """
    )
    assert seen.kept("process") == []


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-smi --query-gpu=memory.free --format=csv,noheader -i 0",
        "git rev-parse --short HEAD",
        "git -C /somewhere describe --always",
        "git branch --show-current",
        "cat /proc/cpuinfo | grep name | head -1",
        "which gcc && gcc --version",
        "ls 2>/dev/null",
        "df -h . 2>&1",
        "date +%Y",
        "hostname -I",
        "ldconfig -p",
        "c++ -dumpfullversion -dumpversion",
        "python3 --version",
        "python -c 'import sys, json; print(json.dumps(sys.path))'",
        "python3.11 -I -c 'import platform, sysconfig; print(platform.system(), sysconfig.get_path(\"purelib\"))'",
    ],
)
def test_a_question_is_harmless(line: str) -> None:
    assert harmless_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "rm -rf /",
        "ls; rm x",
        "ls && rm x",
        "ls | tee x",
        "ls > x",
        "ls 2> x",
        "ls &> x",
        "ls >> x",
        "ls $(rm x)",
        "ls `rm x`",
        "echo a#; rm x",
        "ls & rm x",
        "ls\nrm x",
        "echo <(rm x)",
        "X=1 rm x",
        "(rm x)",
        "git checkout .",
        "git commit -m x",
        "git -c core.fsmonitor=rm status",
        "git diff --output=x",
        "git branch new",
        "nvidia-smi -pl 100",
        "nvidia-smi -f x",
        "nvidia-smi drain",
        "date -s 12:00",
        "hostname new",
        "gcc x.c",
        "gcc -v x.c",
        "ninja -v",
        "make",
        "python train.py",
        "python -m site --user-site x",
        "python -c 'import os; os.remove(\"x\")'",
        "python -c 'import os; print(os.system(\"rm x\"))'",
        "python -c 'import sys, shutil; print(sys.path)'",
        'python -c \'print(open("x", "w"))\'',
        'python -c \'print(1, file=open("x", "w"))\'',
        "python -c 'import sys; print([one for one in map(exec, sys.argv)])'",
        "ls 'unclosed",
    ],
)
def test_a_deed_is_not_harmless(line: str) -> None:
    assert not harmless_line(line)


def test_no_command_at_all_is_not_harmless() -> None:
    assert not harmless([])
