"""Samples to label, with everything in them that a rater must not see, and codebooks of other shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sleuth.study import corpus

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\"'`${alert(2)}"
# What would sway a rater. Numbers that occur nowhere else, so that they can be looked for in all that is sent.
SCORE, VIEWS, ANSWERS, CREATED = 918273, 827364, 736455, 1512345678901
STRATUM = "stratum-nobody-may-see"
MANY = """\
name = "marks"
title = "Marks"
question = "What does it show?"
choose = "many"
[[label]]
name = "code"
key = "c"
definition = "There is code."
[[label]]
name = "error"
key = "e"
definition = "There is an error."
[[label]]
name = "log"
key = "1"
definition = "There is a log."
"""
NESTED = """\
name = "nested"
title = "Nested"
question = "Where?"
[[label]]
name = "data"
key = "d"
definition = "The data."
[[label]]
name = "data/image"
title = "Image"
within = "data"
key = "i"
definition = "A picture."
[[label]]
name = "data/text"
title = "Text"
within = "data"
key = "d"
definition = "A text."
[[label]]
name = "model"
title = "Model"
key = "m"
definition = "The model."
"""


def post(number: int, **changes: Any) -> dict[str, Any]:
    """A row of a corpus."""
    row = dict.fromkeys(corpus.COLUMNS.names)
    row |= {"key": f"so:{number}", "id": number, "site": "so", "kind_of_post": "question"}
    row |= {"score": SCORE, "views": VIEWS, "answers": ANSWERS, "created_ms": CREATED}
    row |= {
        "title": f"Question {number}",
        "text": f"The words of {number}.",
        "code": [f"x = {number}"],
        "tags": ["keras"],
    }
    return {**row, **changes}


def write_sample(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A corpus of these posts, and a sample of all of them."""
    parts = folder / "corpus" / corpus.POSTS
    parts.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=corpus.COLUMNS), parts / "part-0.parquet")
    corpus.write_manifest(folder / "corpus", {})
    posts = [{"key": row["key"], "stratum": STRATUM, "weight": 1.0} for row in rows]
    sample = folder / "sample.json"
    sample.write_text(json.dumps({"schema": 1, "corpus": "corpus", "seed": 1, "design": "random", "posts": posts}))
    return sample
