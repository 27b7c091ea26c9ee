"""A rehearsal ends whatever the program does, leaves nothing behind, and visits the corners that are worth it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from rehearsing import rehearsed

TRAIN = """
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
{head}
model = {model}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(40, 4)), batch_size=8)
{before}
for epoch in range(3):
    for (x,) in loader:
        loss = {loss}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
{after}
"""


def training(
    head: str = "", model: str = "nn.Linear(4, 2)", before: str = "", loss: str = "model(x).sum()", after: str = ""
) -> str:
    return TRAIN.format(head=head, model=model, before=before, loss=loss, after=after)


def test_a_program_that_stands_still_is_ended_with_the_line(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "import time\nprint('on')\ntime.sleep(600)\n", seconds=2.0)
    assert done.plain.how == "out of time"
    (finding,) = done.report.findings
    assert (finding.diagnosis, finding.severity) == ("hangs-in-rehearsal", "note")
    assert finding.place is not None
    assert finding.place.line == 3


def test_a_long_computation_is_no_standing_still(tmp_path: Path) -> None:
    long = "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'', b'', 1 << 30)\n"
    done = rehearsed(tmp_path, long, seconds=1.0)
    assert (done.plain.how, done.report.findings, done.report.exit) == ("out of time", (), 2)


def test_a_program_that_kills_itself_is_no_end_of_us(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert done.plain.how == "died"


def test_no_process_stays_behind(tmp_path: Path) -> None:
    source = "import os, time\nif os.fork() == 0:\n    time.sleep(600)\ntime.sleep(0.1)\n"
    rehearsed(tmp_path, source, seconds=5.0)
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and _folder_of(pid) == str(tmp_path)]


def _folder_of(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def test_the_corner_of_one_sample_is_a_hint(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, training(loss="model(x.squeeze()).sum(1).mean()"), in_corners=["batch_of_one"])
    (finding,) = done.report.findings
    assert (finding.certainty, finding.severity) == ("hint", "note")
    assert "with a batch of one sample" in finding.title


def test_a_mask_that_selects_nothing_is_a_hint(tmp_path: Path) -> None:
    loss = "model(x)[model(x).detach() > -99].max()"
    done = rehearsed(tmp_path, training(loss=loss), in_corners=["empty_mask"])
    (finding,) = done.report.findings
    assert (finding.certainty, finding.severity) == ("hint", "note")
    assert "when a mask selects nothing" in finding.title


def test_a_program_is_started_again_beside_its_checkpoint(tmp_path: Path) -> None:
    before = "if os.path.exists('last.pt'):\n    model.load_state_dict(torch.load('last.pt')['model'])\n"
    healthy = training(before=before, after="torch.save({'model': model.state_dict()}, 'last.pt')")
    assert not rehearsed(tmp_path, healthy, in_corners=["resume"]).report.findings
    forgotten = training(before=before, after="torch.save(model.state_dict(), 'last.pt')")
    (finding,) = rehearsed(tmp_path, forgotten, in_corners=["resume"]).report.findings
    assert "when it is started again" in finding.title
    assert not (tmp_path / "last.pt").exists()


def test_a_program_that_asks_for_a_card_is_rehearsed_without_one(tmp_path: Path) -> None:
    head = "device = 'cuda' if torch.cuda.is_available() else 'cpu'"
    healthy = training(head=head, model="nn.Linear(4, 2).to(device)", loss="model(x.to(device)).sum()")
    done = rehearsed(tmp_path, healthy, in_corners=["no_gpu"])
    assert list(done.corners) == ["no_gpu"]
    assert not done.report.findings
    fixed = training(head=head, model="nn.Linear(4, 2).to(device)", loss="model(x.cuda()).sum()")
    (finding,) = rehearsed(tmp_path, fixed, in_corners=["no_gpu"]).report.findings
    assert "on a machine without a GPU" in finding.title


def test_a_program_that_asks_for_none_is_not(tmp_path: Path) -> None:
    hard = training(model="nn.Linear(4, 2).cuda()", loss="model(x.cuda()).sum()")
    done = rehearsed(tmp_path, hard, in_corners=["no_gpu", "two_gpus"])
    assert not done.corners


def test_a_program_that_counts_cards_is_rehearsed_with_two(tmp_path: Path) -> None:
    head = "several = torch.cuda.device_count() > 1"
    model = "nn.DataParallel(nn.Linear(4, 2)).cuda() if several else nn.Linear(4, 2).cuda()"
    done = rehearsed(tmp_path, training(head=head, model=model, loss="model(x.cuda()).sum()"), in_corners=["two_gpus"])
    assert list(done.corners) == ["two_gpus"]
    assert not done.report.findings
    split = "model(x.cuda(1 if several else 0)).sum()"
    (finding,) = rehearsed(
        tmp_path, training(head=head, model="nn.Linear(4, 2).cuda()", loss=split), in_corners=["two_gpus"]
    ).report.findings
    assert "on two GPUs" in finding.title


def test_a_big_program_is_rehearsed_with_fake_numbers(tmp_path: Path) -> None:
    big = training(model="nn.Sequential(nn.Linear(4, 20000), nn.Linear(20000, 20000))")
    done = rehearsed(tmp_path, big, numbers="auto")
    assert (done.scenario.numbers, done.plain.how) == ("fake", "ended")
    assert done.plain.notes["ended"]["acts"]["step"] == 9


def test_missing_data_are_no_finding(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "import torch\ndata = torch.load('not/there.pt')\n")
    assert (done.plain.how, done.report.findings) == ("cannot go on", ())


def sleuth(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sleuth", "dry", *words], cwd=cwd, capture_output=True, text=True, timeout=600
    )


def test_the_command_gives_json_and_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\nopen('log.txt', 'w').write('on')\ntorch.ones(2, 3) @ torch.ones(2, 3)\n"
    )
    done = sleuth("--format", "json", "--no-corners", "train.py", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["command"], report["exit"]) == (1, "dry", 1)
    assert report["findings"][0]["place"]["line"] == 3
    assert "write log.txt" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_the_report_and_the_command_end_with_the_same_status(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("open('not/there.csv')\n")
    done = sleuth("--format", "json", "train.py", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (report["rehearsal"]["how"], report["exit"], done.returncode) == ("cannot go on", 2, 2)


def test_bad_usage_is_one_line(tmp_path: Path) -> None:
    for words in (["no.py"], ["--card", "many", "x.py"], ["--device", "tpu", "x.py"], []):
        done = sleuth(*words, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")


def test_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import time\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "dry", "train.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text().strip():
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=600) == 130
    assert "Traceback" not in process.stderr.read()


def test_what_a_stand_in_of_ours_lacks_is_not_told_as_a_crash(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, "import torch\nprint(torch.cuda.get_device_properties(0).made_up)\n")
    assert not done.report.findings
    assert done.plain.how == "cannot go on"
    assert "made_up" in done.plain.end["detail"]


def test_the_last_words_of_a_program_that_ends_itself_are_told(tmp_path: Path) -> None:
    parser = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--data', required=True)\np.parse_args()\n"
    done = rehearsed(tmp_path, parser)
    assert done.plain.how == "cannot go on"
    assert "status 2" in done.plain.end["detail"]
    assert done.plain.last_words[-1].endswith("the following arguments are required: --data")
    assert not done.report.findings
    done = rehearsed(tmp_path, "import sys\nprint('loading', file=sys.stderr)\nsys.exit('no data here')\n")
    assert done.plain.last_words == ["loading", "no data here"]
    assert not rehearsed(tmp_path, "import sys\nprint('done', file=sys.stderr)\nsys.exit(0)\n").plain.last_words


def test_batches_that_are_only_evaluated_are_cut_short(tmp_path: Path) -> None:
    source = training(after="model.eval()\nwith torch.no_grad():\n    for (x,) in loader:\n        model(x)")
    acts = rehearsed(tmp_path, source).plain.acts
    assert acts["evaluation"] < 10
