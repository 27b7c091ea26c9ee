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
    "datasets": """
        import os
        from datasets import Dataset, load_dataset, load_from_disk
        with open("rows.csv", "w") as file:
            file.write("a,b\\n" + "\\n".join(f"{i},{i * i}" for i in range(40)))
        rows = load_dataset("csv", data_files="rows.csv", cache_dir="cache")["train"]
        rows = rows.map(lambda row: {"c": row["a"] + 1})
        assert rows[3] == {"a": 3, "b": 9, "c": 4} and os.listdir("cache")
        made = Dataset.from_dict({"x": [*range(50)]}).map(lambda part: {"y": part["x"]}, batched=True, num_proc=2)
        made.save_to_disk("out")
        load_from_disk("out").filter(lambda row: row["x"] > 3).to_parquet("rows.parquet")
        assert len(load_dataset("parquet", data_files="rows.parquet", cache_dir="cache")["train"]) == 46
        print("all is well")
    """,
    "arrow": """
        import os, pathlib, sqlite3
        import pandas, pyarrow
        import pyarrow.csv, pyarrow.dataset, pyarrow.feather, pyarrow.parquet
        table = pandas.DataFrame({"a": [1, 2, 3], "k": ["x", "y", "x"]})
        os.mkdir("out")
        table.to_parquet("out/t.parquet")
        assert len(pandas.read_parquet("out/t.parquet")) == 3
        table.to_parquet("parts", partition_cols=["k"])
        assert sorted(os.listdir("parts")) == ["k=x", "k=y"] and len(pandas.read_parquet("parts")) == 3
        arrow = pyarrow.Table.from_pandas(table)
        with pyarrow.parquet.ParquetWriter(os.path.abspath("w.parquet"), arrow.schema) as writer:
            writer.write_table(arrow)
        assert pyarrow.parquet.ParquetFile(pathlib.Path("w.parquet")).metadata.num_rows == 3
        pyarrow.dataset.write_dataset(arrow, "set", format="parquet")
        assert pyarrow.dataset.dataset("set").count_rows() == 3
        pyarrow.csv.write_csv(arrow, "t.csv")
        assert pyarrow.csv.read_csv("t.csv").num_rows == 3
        pyarrow.feather.write_feather(arrow, "t.feather")
        assert pandas.read_feather("t.feather").shape == (3, 2)
        with pyarrow.OSFile("t.arrow", "wb") as sink, pyarrow.ipc.new_file(sink, arrow.schema) as writer:
            writer.write_table(arrow)
        assert pyarrow.ipc.open_file(pyarrow.memory_map("t.arrow")).read_all().num_rows == 3
        table.to_sql("t", sqlite3.connect("t.sqlite"))
        assert sqlite3.connect("t.sqlite").execute("select count(*) from t").fetchone() == (3,)
        print("all is well")
    """,
    "orbax": """
        import os
        import jax.numpy as jnp
        import orbax.checkpoint as ocp
        keeper = ocp.StandardCheckpointer()
        keeper.save(os.path.abspath("out/1"), {"w": jnp.ones((4, 2))})
        keeper.wait_until_finished()
        assert keeper.restore(os.path.abspath("out/1"))["w"].shape == (4, 2) and os.listdir("out/1")
        print("all is well")
    """,
    "tensorflow": """
        import os
        import tensorflow as tf
        writer = tf.summary.create_file_writer("logs/a")
        with writer.as_default():
            tf.summary.scalar("loss", 0.5, step=1)
        writer.close()
        assert tf.io.gfile.listdir("logs/a") == os.listdir("logs/a") != []
        tf.io.gfile.makedirs("g/h")
        for mode, text in (("w", "hello"), ("a", " you")):
            with tf.io.gfile.GFile("g/h/x.txt", mode) as file:
                file.write(text)
        tf.io.gfile.copy("g/h/x.txt", "g/h/y.txt")
        tf.io.gfile.rename("g/h/y.txt", "g/h/z.txt")
        assert open("g/h/z.txt").read() == tf.io.gfile.GFile("g/h/x.txt").read() == "hello you"
        assert tf.io.gfile.glob("g/h/*") == ["g/h/x.txt", "g/h/z.txt"] and not tf.io.gfile.exists("g/h/y.txt")
        tf.io.gfile.rmtree("g")
        assert not os.path.exists("g")
        with tf.io.gfile.GFile("train.py", "a") as file:
            file.write("# changed")
        assert open("train.py").read().endswith("# changed")
        with tf.io.TFRecordWriter("r.tfrecord") as records:
            records.write(b"abc")
        assert list(tf.data.TFRecordDataset("r.tfrecord").as_numpy_iterator()) == [b"abc"]
        tf.io.write_file("w.bin", "data")
        assert tf.io.read_file("w.bin").numpy() == b"data"
        number = tf.Variable(3.0)
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(number=number), "ck", max_to_keep=2)
        assert manager.save() == "ck/ckpt-1"
        number.assign(4.0)
        manager.checkpoint.restore(manager.latest_checkpoint)
        assert number.numpy() == 3.0
        module = tf.Module()
        module.double = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([], tf.float32)])
        tf.saved_model.save(module, "out")
        assert tf.saved_model.load("out").double(tf.constant(2.0)).numpy() == 4.0
        print("all is well")
    """,
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_what_it_writes_is_found_again_and_left_nowhere(library: str, tmp_path: Path) -> None:
    program = textwrap.dedent(PROGRAMS[library])
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "sleuth", "dry", "--no-corners", "--show-output", "--device", "cpu", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "all is well" in done.stdout, done.stdout + done.stderr
    assert "kept off:" in done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]
    assert (tmp_path / "train.py").read_text() == program
