"""Libraries that people train with write, read and are imported as ever, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Rehearse = Callable[..., Any]


def test_tensorboard_writes_its_events_to_the_scratch_folder(rehearse: Rehearse) -> None:
    pytest.importorskip("tensorboard")
    seen = rehearse(
        """
        import os
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter()
        writer.add_scalar("loss", 1.0, 0)
        writer.close()
        assert len(os.listdir("runs")) == 1
        """
    )
    assert [what[:5] for what in seen.kept("write")] == ["runs/"]


def test_transformers_saves_a_model_and_loads_it(rehearse: Rehearse) -> None:
    pytest.importorskip("transformers")
    seen = rehearse(
        """
        import os
        from sleuth.dry.safe import refusals
        from tokenizers import Tokenizer, models
        from transformers import AutoConfig, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
        model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=4, n_head=1, vocab_size=9, bos_token_id=0, eos_token_id=0))
        model.save_pretrained("out")
        tokenizer = Tokenizer(models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained("out")
        assert tokenizer.model.save("out") == [os.path.abspath("out/vocab.json")]
        GPT2LMHeadModel.from_pretrained("out")
        assert PreTrainedTokenizerFast.from_pretrained("out")("a")["input_ids"] == [0]
        try:
            AutoConfig.from_pretrained("nobody/has-this")
        except OSError as error:
            assert refusals.behind(error) == "the network (huggingface.co)"
        """
    )
    assert "out/model.safetensors" in seen.kept("write")
    assert "out/tokenizer.json" in seen.kept("write")


def test_keras_saves_a_model_and_loads_it(rehearse: Rehearse) -> None:
    pytest.importorskip("keras")
    rehearse(
        """
        import os
        os.environ["KERAS_BACKEND"] = "torch"
        import keras
        model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
        model.save("m.keras")
        keras.saving.load_model("m.keras")
        model.save_weights("m.weights.h5")
        model.load_weights("m.weights.h5")
        """
    )


def test_lightning_keeps_its_logs_and_checkpoints_out_of_the_folder(rehearse: Rehearse) -> None:
    pytest.importorskip("lightning")
    seen = rehearse(
        """
        import glob, torch, lightning
        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 1)
            def training_step(self, batch, index):
                return self.layer(batch).mean()
            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)
        trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", enable_progress_bar=False)
        trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(4, 2)))
        assert glob.glob("lightning_logs/version_0/checkpoints/*.ckpt")
        """
    )
    assert any(what.endswith(".ckpt") for what in seen.kept("write"))


def test_matplotlib_shows_no_window_and_saves_to_the_scratch_folder(rehearse: Rehearse) -> None:
    pytest.importorskip("matplotlib")
    seen = rehearse(
        """
        import matplotlib.pyplot as plt
        plt.plot([1, 2])
        plt.savefig("curve.png")
        plt.show()
        """
    )
    assert "curve.png" in seen.kept("write")


def test_a_profile_is_written_to_the_scratch_folder(rehearse: Rehearse) -> None:
    rehearse(
        """
        import os, torch
        with torch.autograd.profiler.profile() as profile:
            torch.ones(2) + 1
        profile.export_chrome_trace("trace.json")
        assert os.path.getsize("trace.json") > 0
        """
    )


def test_everything_is_put_back_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import os
    import pathlib
    import shutil
    import socket
    import subprocess
    import tempfile

    from sleuth.dry import journal
    from sleuth.dry.patches import Patches
    from sleuth.dry.safe import guard

    (tmp_path / "scratch").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")

    class Stage:
        scratch = tmp_path / "scratch"
        journal = journal.Journal(tmp_path / "scratch" / "journal")
        patches = Patches()

    owners = (os, builtins, shutil, socket, socket.socket, subprocess.Popen, tempfile, pathlib.Path)
    before = [dict(vars(owner)) for owner in owners]
    environment = dict(os.environ)
    guard.install(Stage())  # type: ignore[arg-type]
    try:
        pathlib.Path("inside").write_text("x")
        os.mkdir("folder")
        os.chdir("folder")
    finally:
        Stage.patches.undo()
    assert [dict(vars(owner)) for owner in owners] == before
    assert dict(os.environ) == environment
    assert os.listdir(".") == []
    pathlib.Path("outside").write_text("x")
    assert os.listdir(tmp_path / "home") == ["outside"]
    assert subprocess.run(["true"], check=True).returncode == 0
