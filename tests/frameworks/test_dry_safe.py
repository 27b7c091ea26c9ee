"""Programs of other people's trainers save and load in a rehearsal, and leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PROGRAMS = {
    "transformers": """
        import os
        from tokenizers import Tokenizer, models
        from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
        model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=4, n_head=1, vocab_size=9, bos_token_id=0, eos_token_id=0))
        model.save_pretrained("out")
        tokenizer = Tokenizer(models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?").save_pretrained("out")
        assert tokenizer.model.save("out") == [os.path.abspath("out/vocab.json")]
        GPT2LMHeadModel.from_pretrained("out")
        assert PreTrainedTokenizerFast.from_pretrained("out")("a")["input_ids"] == [0]
        print("all is well")
    """,
    "keras": """
        import os
        os.environ["KERAS_BACKEND"] = "torch"
        import keras
        model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
        os.mkdir("out")
        model.save("out/m.keras")
        keras.saving.load_model("out/m.keras")
        model.save_weights("out/m.weights.h5")
        model.load_weights("out/m.weights.h5")
        print("all is well")
    """,
    "lightning": """
        import glob, torch, lightning
        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 1)
            def training_step(self, batch, index):
                return self.layer(batch).mean()
            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)
        trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", enable_progress_bar=False, default_root_dir="out")
        trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(4, 2)))
        assert glob.glob("out/lightning_logs/version_0/checkpoints/*.ckpt")
        print("all is well")
    """,
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_what_it_writes_is_found_again_and_left_nowhere(library: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(PROGRAMS[library]))
    done = subprocess.run(
        [sys.executable, "-m", "sleuth", "dry", "--no-corners", "--show-output", "--device", "cpu", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "all is well" in done.stdout, done.stdout + done.stderr
    assert "write out/" in done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]
