"""As much of the data set library as the scripts need, with made-up sentences."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

__version__ = "3.0.0"
_WORDS = [f"word{number}" for number in range(200)]


class ClassLabel:
    names = ("other", "same")
    num_classes = 2


class Dataset:
    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns

    @property
    def column_names(self) -> list[str]:
        return list(self._columns)

    @property
    def features(self) -> dict[str, Any]:
        return {name: ClassLabel() if name in ("label", "labels") else None for name in self._columns}

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, slice):
            return {name: values[key] for name, values in self._columns.items()}
        return {name: values[key] for name, values in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def map(self, function: Callable[..., Any], batched: bool = False, remove_columns: Any = (), **_: Any) -> Dataset:
        if batched:
            made = dict(function(self._columns))
        else:
            rows = [function(row) for row in self]
            made = {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}
        kept = {name: values for name, values in self._columns.items() if name not in (remove_columns or ())}
        return Dataset({**kept, **made})

    def rename_column(self, old: str, new: str) -> Dataset:
        return Dataset({new if name == old else name: values for name, values in self._columns.items()})

    def remove_columns(self, names: Any) -> Dataset:
        return Dataset({name: values for name, values in self._columns.items() if name not in names})

    def select(self, indices: Any) -> Dataset:
        return Dataset({name: [values[i] for i in indices] for name, values in self._columns.items()})

    def shuffle(self, seed: int | None = None) -> Dataset:
        return self

    def with_format(self, *_: Any, **__: Any) -> Dataset:
        return self

    set_format = with_format


class DatasetDict(dict[str, Dataset]):
    def map(self, *args: Any, **options: Any) -> DatasetDict:
        return DatasetDict({name: split.map(*args, **options) for name, split in self.items()})

    def rename_column(self, old: str, new: str) -> DatasetDict:
        return DatasetDict({name: split.rename_column(old, new) for name, split in self.items()})

    def remove_columns(self, names: Any) -> DatasetDict:
        return DatasetDict({name: split.remove_columns(names) for name, split in self.items()})

    @property
    def column_names(self) -> dict[str, list[str]]:
        return {name: split.column_names for name, split in self.items()}


def _sentences(count: int, seed: int) -> Dataset:
    chance = random.Random(seed)

    def sentence() -> str:
        return " ".join(chance.choices(_WORDS, k=chance.randint(4, 14)))

    return Dataset(
        {
            "idx": list(range(count)),
            "sentence1": [sentence() for _ in range(count)],
            "sentence2": [sentence() for _ in range(count)],
            "text": [sentence() for _ in range(count)],
            "label": [chance.randint(0, 1) for _ in range(count)],
        }
    )


def load_dataset(path: str, name: str | None = None, *_: Any, split: str | None = None, **__: Any) -> Any:
    splits = DatasetDict(train=_sentences(213, 0), validation=_sentences(85, 1), test=_sentences(60, 2))
    if path == "glue" or name == "mrpc":
        splits = splits.remove_columns(["text"])
    return splits if split is None else splits[split.split("[")[0]]
