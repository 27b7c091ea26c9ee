"""What the scripts of `scripts.toml` would download, made up: small models without training, words, images.

Python imports this file at its start when its folder is on PYTHONPATH."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from changing import Changing

sys.path.pop()

WORDS = [f"word{number}" for number in range(200)]


def _tokenizer(*_: Any, **__: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    plain = Tokenizer(models.WordLevel({word: i for i, word in enumerate([*special, *WORDS])}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )


def _config(name: str = "", *_: Any, **options: Any) -> Any:
    from transformers import BertConfig, GPT2Config, T5Config

    size = {"vocab_size": len(WORDS) + 5, "pad_token_id": 0}
    kept = {key: options[key] for key in ("num_labels", "problem_type") if options.get(key)}
    if "gpt" in name:
        return GPT2Config(n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=2, eos_token_id=3, **size)
    if "t5" in name:
        return T5Config(d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0, **size)
    layers = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    return BertConfig(max_position_embeddings=64, **size, **layers, **kept)


def _auto_model(module: ModuleType) -> None:
    def from_pretrained(cls: Any, *args: Any, **options: Any) -> Any:
        return cls.from_config(options.get("config") or _config(*args, **options))

    module._BaseAutoModelClass.from_pretrained = classmethod(from_pretrained)  # type: ignore[attr-defined]


def _auto_tokenizer(module: ModuleType) -> None:
    module.AutoTokenizer.from_pretrained = staticmethod(_tokenizer)  # type: ignore[attr-defined]


def _auto_config(module: ModuleType) -> None:
    module.AutoConfig.from_pretrained = staticmethod(_config)  # type: ignore[attr-defined]


def _versions(module: ModuleType) -> None:
    module.require_version = lambda *_, **__: None  # type: ignore[attr-defined]


def _digits(module: ModuleType) -> None:
    import numpy as np

    def load_data(*_: Any, **__: Any) -> Any:
        random = np.random.default_rng(0)
        train = random.integers(0, 256, (600, 28, 28)).astype("uint8"), random.integers(0, 10, 600).astype("uint8")
        return train, (train[0][:100], train[1][:100])

    module.load_data = load_data  # type: ignore[attr-defined]


def _wiki_text(module: ModuleType) -> None:
    import torch

    class WikiText2(torch.utils.data.Dataset):  # type: ignore[misc]
        vocab_size = 300

        def __init__(self, *_: Any, block_size: int = 35, **__: Any) -> None:
            self.block_size = block_size

        def __len__(self) -> int:
            return 5000

        def __getitem__(self, index: int) -> Any:
            words = torch.randint(0, self.vocab_size, (self.block_size + 1,))
            return words[:-1], words[1:]

    module.WikiText2 = WikiText2  # type: ignore[attr-defined]


CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "transformers.models.auto.auto_factory": _auto_model,
    "transformers.models.auto.tokenization_auto": _auto_tokenizer,
    "transformers.models.auto.configuration_auto": _auto_config,
    "transformers.utils.versions": _versions,
    "keras.src.datasets.mnist": _digits,
    "lightning.pytorch.demos.transformer": _wiki_text,
}

sys.meta_path.insert(0, Changing(CHANGES))
