"""What a tool says of a program, in the same words for every tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

ALARMING = ("warning", "error")
LONG = 4000
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?%?", re.IGNORECASE)


@dataclass(frozen=True)
class Message:
    """`text` is what the tool states, `advice` what it suggests to try. A hint is on speed alone."""

    level: str  # note, warning or error
    title: str
    text: str = ""
    advice: str = ""
    hint: bool = False

    @property
    def stated(self) -> str:
        return f"{self.title}\n{self.text}"

    @property
    def gist(self) -> str:
        """The title without its numbers: two runs of one program never have the same."""
        return NUMBER.sub("#", self.title)


@dataclass(frozen=True)
class Answer:
    """What became of one program under one tool."""

    ended: str  # "done", or how the program came to an end
    steps: int = 0
    seconds: float = 0.0
    messages: tuple[Message, ...] = ()
    trouble: str | None = None  # why the tool could not do its work

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Answer:
        return cls(**{**data, "messages": tuple(Message(**message) for message in data["messages"])})


class Collector:
    """Joins the messages that say the same."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Message] = {}

    def add(self, messages: Iterable[Message]) -> None:
        for message in messages:
            key = (message.level, message.gist)
            before = self.kept.get(key)
            if before is None:
                self.kept[key] = message
            elif len(before.text) < LONG and NUMBER.sub("#", message.text) not in NUMBER.sub("#", before.text):
                self.kept[key] = replace(before, text=f"{before.text}\n{message.text}")

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self.kept.values())
