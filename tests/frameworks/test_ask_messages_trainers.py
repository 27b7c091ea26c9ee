"""The signatures of Lightning and Transformers know the messages that the installed libraries give."""

from __future__ import annotations

import pytest
from other_process import errors_of, names_in
from recognising import errors_in

# One process imports the libraries once, makes every error happen and prints what Python would.
PROGRAM = r"""
import tempfile, warnings
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
"""
NAMES = names_in(PROGRAM)


@pytest.fixture(scope="session")
def said() -> dict[str, str]:
    return errors_of(PROGRAM, HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")


@pytest.mark.parametrize("name", NAMES)
def test_the_message_is_known_by_its_signature(said: dict[str, str], name: str) -> None:
    known = [match.signature.name for match in errors_in(said[name])]
    assert known[:1] == [name]
