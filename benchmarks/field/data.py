"""What the scripts would read or download, made up: texts, images, tiny models without training, a metric.

`data` of `scripts.toml` names functions of this file; each writes into the folder that a script is run in."""

from __future__ import annotations

import csv
import json
import pickle
import random
from pathlib import Path
from typing import Any

WORDS = {
    "good": ["bright", "kind", "lovely", "happy", "warm", "brave"],
    "bad": ["dull", "cruel", "awful", "sad", "cold", "weak"],
    "other": ["the", "a", "day", "film", "road", "house", "was", "is", "and", "very", "rather", "quite"],
}


def _sentence(chance: random.Random, mood: str) -> str:
    """Most words say nothing of the mood, a few do."""
    return " ".join(chance.choice(WORDS[chance.choice([mood, "other", "other"])]) for _ in range(12))


def characters(folder: Path) -> None:
    """nanoGPT's form of a text by characters."""
    import numpy as np

    chance = random.Random(0)
    text = ". ".join(_sentence(chance, chance.choice(["good", "bad"])) for _ in range(2000))
    known = {character: number for number, character in enumerate(sorted(set(text)))}
    numbers = np.array([known[character] for character in text], dtype=np.uint16)
    into = folder / "data" / "characters"
    into.mkdir(parents=True)
    cut = len(numbers) * 9 // 10
    numbers[:cut].tofile(into / "train.bin")
    numbers[cut:].tofile(into / "val.bin")
    (into / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": len(known)}))


def moods(folder: Path) -> None:
    """Sentences with two labels, one table a split."""
    for seed, (split, count) in enumerate({"train": 960, "validation": 160}.items()):
        chance = random.Random(seed)
        with (folder / f"{split}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["sentence", "label"])
            for number in range(count):
                rows.writerow([_sentence(chance, ["bad", "good"][number % 2]), number % 2])


def sentences(folder: Path) -> None:
    for seed, (split, count) in enumerate({"train": 1600, "validation": 200}.items()):
        chance = random.Random(seed)
        lines = [_sentence(chance, chance.choice(["good", "bad"])) for _ in range(count)]
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = [*special, *(word for group in WORDS.values() for word in group)]
    plain = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=plain, model_max_length=64, **names)
    tokenizer.save_pretrained(folder)
    return len(words)


def reader(folder: Path) -> None:
    """A BERT of two layers, as a folder that `from_pretrained` reads."""
    from transformers import BertConfig, BertForMaskedLM, set_seed

    set_seed(0)
    words = _tokenizer(folder / "reader")
    size = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    model: Any = BertForMaskedLM(BertConfig(vocab_size=words, max_position_embeddings=64, pad_token_id=0, **size))
    model.save_pretrained(folder / "reader")


def writer(folder: Path) -> None:
    """A GPT-2 of two layers, as a folder that `from_pretrained` reads."""
    from transformers import GPT2Config, GPT2LMHeadModel, set_seed

    set_seed(0)
    words = _tokenizer(folder / "writer")
    size = {"n_positions": 64, "n_embd": 64, "n_layer": 2, "n_head": 4}
    model: Any = GPT2LMHeadModel(GPT2Config(vocab_size=words, bos_token_id=2, eos_token_id=3, **size))
    model.save_pretrained(folder / "writer")


def accuracy(folder: Path) -> None:
    """The metric that `evaluate.load("accuracy")` would download; a folder of that name is taken instead."""
    (folder / "accuracy").mkdir()
    (folder / "accuracy" / "accuracy.py").write_text(_METRIC, encoding="utf-8")


_METRIC = '''"""The share of predictions that are right."""

import datasets
import evaluate


class Accuracy(evaluate.Metric):
    def _info(self):
        numbers = {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features(numbers))

    def _compute(self, predictions, references):
        right = sum(int(given) == int(wanted) for given, wanted in zip(predictions, references))
        return {"accuracy": right / len(predictions)}
'''


def pictures(folder: Path) -> None:
    """Squares of a colour on another."""
    from PIL import Image

    chance = random.Random(0)
    (folder / "pictures").mkdir()
    for number in range(160):
        colours = [tuple(chance.randrange(256) for _ in range(3)) for _ in range(2)]
        picture = Image.new("RGB", (24, 24), colours[0])
        left, top = chance.randrange(12), chance.randrange(12)
        picture.paste(colours[1], (left, top, left + 12, top + 12))
        picture.save(folder / "pictures" / f"{number:03}.png")


def denoiser(folder: Path) -> None:
    """The shape of a small U-Net."""
    size = {"sample_size": 16, "block_out_channels": [16, 32], "layers_per_block": 1, "norm_num_groups": 8}
    blocks = {"down_block_types": ["DownBlock2D"] * 2, "up_block_types": ["UpBlock2D"] * 2}
    (folder / "denoiser").mkdir()
    shape = {"_class_name": "UNet2DModel", "attention_head_dim": 8, **size, **blocks}
    (folder / "denoiser" / "config.json").write_text(json.dumps(shape), encoding="utf-8")


MAKERS = {one.__name__: one for one in (characters, moods, sentences, reader, writer, accuracy, pictures, denoiser)}
