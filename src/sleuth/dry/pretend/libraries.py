"""Trainers of other libraries: they find the pretended card by themselves, as accelerate does, but end late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sleuth.dry.after_import import after_import

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# After the rounds of a scenario a DataLoader deals its last batch, which may be smaller than the others.
_THE_LAST = 1
# One epoch shows what happens at its end, the second what the first left behind.
_EPOCHS = 2


def install(stage: Stage) -> None:
    after_import(stage, "transformers.trainer", lambda module: _hugging_face(stage, module))
    for name in ("lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer"):
        after_import(stage, name, lambda module: _lightning(stage, module))


def _hugging_face(stage: Stage, module: Any) -> None:
    """`Trainer.train()`: a few steps, with whatever is done every so many steps done at the last of them."""
    plain = module.Trainer.train

    def train(trainer: Any, *args: Any, **kwargs: Any) -> Any:
        arguments, steps = trainer.args, stage.scenario.rounds + _THE_LAST
        if not 0 < arguments.max_steps <= steps:
            arguments.max_steps = steps
            stage.journal.assume(None, f"Trainer.train() left after {steps} steps")
        for name in ("eval_steps", "save_steps", "logging_steps"):
            often = getattr(arguments, name, None)
            if often is not None and (often < 1 or often > steps):
                setattr(arguments, name, steps)
        if getattr(arguments, "eval_delay", None):
            arguments.eval_delay = 0
        return plain(trainer, *args, **kwargs)

    stage.patches.set(module.Trainer, "train", train)


def _lightning(stage: Stage, module: Any) -> None:
    """`Trainer(...)`: a few batches of two epochs, in this process."""
    plain = module.Trainer.__init__

    def init(trainer: Any, *args: Any, **kwargs: Any) -> None:
        rounds = stage.scenario.rounds + _THE_LAST
        for name in ("limit_train_batches", "limit_val_batches", "limit_test_batches", "limit_predict_batches"):
            given = kwargs.get(name)
            if not (isinstance(given, int) and not isinstance(given, bool) and given <= rounds) and given != 0.0:
                kwargs[name] = rounds
        if not kwargs.get("fast_dev_run"):
            kwargs["max_epochs"] = _fewer(kwargs.get("max_epochs"))
            kwargs["min_epochs"] = None
            kwargs["check_val_every_n_epoch"] = 1
            kwargs["val_check_interval"] = 1.0
            kwargs["log_every_n_steps"] = 1
        _alone(stage, kwargs)
        plain(trainer, *args, **kwargs)
        stage.journal.assume(None, f"Trainer: {rounds} batches of {kwargs.get('max_epochs') or 1} epochs")

    stage.patches.set(module.Trainer, "__init__", init)


def _fewer(epochs: Any) -> int:
    return epochs if isinstance(epochs, int) and 0 <= epochs <= _EPOCHS else _EPOCHS


def _alone(stage: Stage, kwargs: dict[str, Any]) -> None:
    """Several devices would mean several processes."""
    devices = kwargs.get("devices", "auto")
    several = devices in (-1, "-1", "auto") or (isinstance(devices, int) and devices > 1)
    several = several or (isinstance(devices, list | tuple) and len(devices) > 1)
    if several and stage.devices.kind != "cpu" and kwargs.get("accelerator", "auto") != "cpu":
        kwargs["devices"] = 1
        if devices not in ("auto", -1, "-1") or stage.devices.count > 1:
            stage.journal.assume(None, f"Trainer(devices={devices!r}) ran on one of them")
    kwargs["num_nodes"] = 1
    if isinstance(kwargs.get("strategy"), str):
        kwargs["strategy"] = "auto"
