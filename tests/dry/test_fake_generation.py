"""A language model of real size trains, writes text and is saved, all without numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from rehearsing import rehearsed

PROGRAM = """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config()).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(0, 50257, (8, 1024)).cuda()
    for step in range(100):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(loss.item())
    model.eval()
    assert model.generate(ids[:2, :10], max_new_tokens=2000).shape[1] > 10
    torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt"))
"""


def test_gpt_2_trains_and_its_generation_ends(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, PROGRAM, numbers="fake", seconds=60.0)
    assert done.plain.how == "ended"
    assert not done.plain.findings
    assert any(one.what == ".item() assumed 1.0" for one in done.plain.assumptions)
