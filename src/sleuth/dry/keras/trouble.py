"""A crash in Keras with all that is known of it, and how it becomes a finding."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import keras

from sleuth import handbook
from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _messages
from sleuth.dry.keras import story
from sleuth.dry.keras.notes import Failed, Notes
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.program import is_users

# Keras prints the original message in bold, between what it adds.
_BOLD = re.compile(r"\x1b\[1m(.*)\x1b\[0m", re.DOTALL)
_OF_SHAPES = re.compile(r"\bshapes?\b|\brank\b|\bn?dim|\bax[ei]s\b|\bsizes?\b|broadcast|batch_size", re.IGNORECASE)
Shape = tuple[Any, ...]


@dataclass(frozen=True)
class Trouble:
    crash: Crash
    notes: Notes
    failed: Failed | None

    @property
    def text(self) -> str:
        """The error's own words, without what Keras puts around them."""
        said = _messages.said(self.crash.error).strip()
        found = _BOLD.search(said)
        return found.group(1) if found else said

    @property
    def is_about_shapes(self) -> bool:
        """Does it complain of shapes, rather than of the numbers or the type of what has them?"""
        others = _messages.is_about_values(self.text) or _messages.is_about_types(self.text)
        return _OF_SHAPES.search(self.text) is not None and not others

    @property
    def layer(self) -> Any:
        return self.failed.thing if self.failed is not None and self.failed.kind == "layer" else None

    @property
    def births(self) -> tuple[Birth, ...]:
        return self.failed.call.births if self.failed is not None else ()

    @property
    def place(self) -> Place | None:
        """The user's line: of the layer that failed where only a model called it, else where the error went through."""
        inner = self.layer is not None and not isinstance(self.layer, keras.Model)
        if inner and not _is_users_own(self.layer) and self.failed is not None and self.failed.by_container:
            return self.failed.call.place or self.crash.place
        return self.crash.place

    def finding(
        self,
        diagnosis: str,
        title: str,
        evidence: Iterable[tuple[str, Any]] = (),
        fixes: Iterable[str] = (),
        more: Iterable[Link] = (),
        place: Place | None = None,
    ) -> Finding:
        """The chain is the history of what the failing call was given, then the lines in between."""
        place = place or self.place
        links = [*story.chains(self.births), *more]
        if self.crash.place is not None and (place is None or self.crash.place.line != place.line):
            links.append(Link("it fails when this runs", self.crash.place))
        facts = [Evidence(name, str(value) if isinstance(value, tuple) else value) for name, value in evidence]
        return handbook.finding(
            diagnosis,
            place=place,
            title=title,
            evidence=[*facts, Evidence("error", _in_brief(self.crash.words))],
            chain=links,
            fixes=[Fix(title=fix) for fix in fixes],
        )


def _is_users_own(layer: Any) -> bool:
    """Has the user written its `call`? The error then went through a line of it."""
    code = getattr(type(layer).call, "__code__", None)
    return code is not None and is_users(code.co_filename)


def shape_in(text: str) -> Shape:
    """`(None, 28, 28)`, `torch.Size([16, 10])` or `[(2, 3), (4,)]` as tuples."""
    try:
        value = ast.literal_eval(text.replace("torch.Size", "").strip())
    except (ValueError, SyntaxError):
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _in_brief(words: str) -> str:
    """Without the numbers of whole tensors."""
    words = re.sub(r"\x1b\[\d+m", "", words)
    words = re.sub(r"tensor\(\[.*?\]\)", "tensor(…)", words, flags=re.DOTALL)
    return words if len(words) <= 600 else words[:600] + " …"
