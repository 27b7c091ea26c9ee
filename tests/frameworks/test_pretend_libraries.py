"""Trainers of other libraries find the pretended card, and end soon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from pretending import performed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data(samples: int = 40) -> TensorDataset:
    return TensorDataset(torch.randn(samples, 4), torch.randint(3, (samples,)))


@pytest.mark.parametrize("precision", ["no", "fp16", "bf16"])
def test_accelerate_trains_on_the_card(precision: str) -> None:
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    def act() -> None:
        accelerator = Accelerator(mixed_precision=precision, gradient_accumulation_steps=2)
        assert accelerator.device.type == "cuda"
        model = nn.Linear(4, 3)
        optimizer = torch.optim.AdamW(model.parameters())
        model, optimizer, batches = accelerator.prepare(model, optimizer, DataLoader(data(), batch_size=8))
        for x, y in batches:
            assert x.is_cuda
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            accelerator.gather_for_metrics(y)
        assert next(accelerator.unwrap_model(model).parameters()).is_cuda

    try:
        performed(act)
    finally:
        AcceleratorState._reset_state(reset_partial_state=True)


def test_hugging_faces_trainer_takes_a_few_steps_evaluates_and_saves(tmp_path: Path) -> None:
    from accelerate.state import AcceleratorState
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    sizes: dict[str, Any] = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    samples = [{"input_ids": torch.randint(50, (8,)), "labels": torch.tensor(1)} for _ in range(40)]

    def act() -> None:
        model = BertForSequenceClassification(BertConfig(intermediate_size=16, max_position_embeddings=32, **sizes))
        arguments = TrainingArguments(
            str(tmp_path),
            num_train_epochs=50,
            per_device_train_batch_size=4,
            eval_strategy="steps",
            eval_steps=100,
            save_steps=100,
            fp16=True,
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(model, arguments, train_dataset=samples, eval_dataset=samples)
        trainer.train()
        assert trainer.state.global_step == 3
        assert any("eval_loss" in entry for entry in trainer.state.log_history)
        assert next(model.parameters()).is_cuda

    try:
        performed(act)
    finally:
        AcceleratorState._reset_state(reset_partial_state=True)
    assert (tmp_path / "checkpoint-3").is_dir()


@pytest.mark.parametrize(
    "options",
    [{"accelerator": "gpu", "devices": 2, "strategy": "ddp"}, {"accelerator": "auto"}, {"precision": "16-mixed"}],
    ids=["ddp", "auto", "mixed"],
)
def test_lightning_trains_two_short_epochs_on_the_card(options: dict[str, Any], tmp_path: Path) -> None:
    import lightning

    sizes: list[int] = []

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def training_step(self, batch: Any, number: int) -> torch.Tensor:
            assert batch[0].is_cuda
            sizes.append(len(batch[0]))
            return F.cross_entropy(self.layer(batch[0]), batch[1])

        def validation_step(self, batch: Any, number: int) -> None:
            self.log("validation", F.cross_entropy(self.layer(batch[0]), batch[1]))

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters())

    def act() -> None:
        trainer = lightning.Trainer(
            max_epochs=100, default_root_dir=tmp_path, logger=False, enable_progress_bar=False, **options
        )
        model = Model()
        trainer.fit(model, DataLoader(data(44), batch_size=8), DataLoader(data(), batch_size=8))
        assert (trainer.current_epoch, trainer.global_step) == (2, 6)
        assert sizes == [8, 8, 4] * 2
        assert "validation" in trainer.callback_metrics
        assert trainer.checkpoint_callback.best_model_path

    performed(act, cards=2)


def test_lightnings_command_line_finds_the_trainers_parameters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from lightning.pytorch import LightningModule
    from lightning.pytorch.cli import LightningCLI

    class Net(LightningModule):
        def __init__(self, width: int = 8) -> None:
            super().__init__()
            self.layer = nn.Linear(4, width)

        def training_step(self, batch: Any, number: int) -> Any:
            return self.layer(batch[0]).pow(2).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

        def train_dataloader(self) -> Any:
            return DataLoader(data(), batch_size=8)

    def act() -> None:
        quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
        cli = LightningCLI(Net, run=False, trainer_defaults=quiet, save_config_callback=None)
        cli.trainer.fit(cli.model)
        assert cli.model.layer.out_features == 5
        assert cli.trainer.gradient_clip_val == 2.0

    monkeypatch.chdir(tmp_path)
    words = ["train.py", "--trainer.gradient_clip_val=2.0", "--trainer.max_epochs=1", "--model.width=5"]
    monkeypatch.setattr("sys.argv", words)
    performed(act)
