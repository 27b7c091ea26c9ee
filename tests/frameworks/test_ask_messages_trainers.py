"""The signatures of Lightning and Transformers know the messages that the installed libraries give."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# One process imports the libraries once, makes every error happen and prints what Python would.
PROGRAM = r"""
import json, sys, tempfile, traceback, warnings
import lightning
import torch
import transformers


class Text(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return {"nothing": 1}


class Net(torch.nn.Module):
    def forward(self, x):
        return {"logits": x}


class Values(Text):
    def __getitem__(self, index):
        return {"x": torch.ones(1)}


def train(data):
    where = tempfile.mkdtemp()
    arguments = transformers.TrainingArguments(where, use_cpu=True, report_to=[], disable_tqdm=True)
    transformers.Trainer(Net(), arguments, train_dataset=data).train()


def meta():
    with torch.device("meta"):
        net = torch.nn.Linear(1, 1)
    net.to("cpu")


RAISED = {
    "lightning-misconfigured": lambda: lightning.Trainer(accelerator="cuda", logger=False),
    "hf-offline": lambda: transformers.AutoConfig.from_pretrained("nobody/no-such-model-here"),
    "hf-no-loss": lambda: train(Values()),
    "hf-meta-tensor": meta,
}
said = {}
for name, program in RAISED.items():
    try:
        program()
    except BaseException as error:
        said[name] = "".join(traceback.format_exception(error))
print(json.dumps(said), file=sys.stderr)
"""
NAMES = [line.split('"')[1] for line in PROGRAM.splitlines() if line.startswith('    "') and '": ' in line]


@pytest.fixture(scope="session")
def said() -> dict[str, str]:
    settings = {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    environment = {**os.environ, **settings}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    result: dict[str, str] = json.loads(done.stderr.splitlines()[-1])
    return result


@pytest.mark.parametrize("name", NAMES)
def test_the_message_is_known_by_its_signature(said: dict[str, str], name: str) -> None:
    from sleuth.triage.matching import matches
    from sleuth.triage.reading import read

    known = [match.signature.name for match in matches(read(said[name])) if not match.signature.symptom]
    assert known[:1] == [name]
