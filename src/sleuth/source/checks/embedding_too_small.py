"""An embedding with fewer rows than there are indices, mostly by the one that padding or counting from 1 needs."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.layer_shapes import whole
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by, same

OPERATIONS = ("embedding",)
CALLS = ("torch.nn.Embedding", "keras.layers.Embedding")


def operation(site: Site) -> Finding | None:
    """A lookup of indices that are surely too high."""
    layer = site.receiver
    rows = None if layer is None else whole(layer.option("0", "num_embeddings", "input_dim"))
    drawn = made_by(site.args[0], "randint") if site.args else None
    if layer is None or rows is None or drawn is None or len(drawn.inputs) < 2:
        return None
    high = drawn.option("high", "maxval") or (drawn.inputs[1] if len(drawn.inputs) > 2 else drawn.inputs[0])
    highest = whole(high)
    if highest is None or highest <= rows or drawn.api not in ("torch.randint", ""):
        return None
    return tell.found(
        "embedding-too-small",
        site,
        title=f"indices go up to {highest - 1}, the embedding has {rows} rows",
        chain=[tell.because(drawn, f"indices up to {highest - 1}"), tell.because(layer, f"rows 0 to {rows - 1}")],
        fixes=[Fix(f"make it with {highest} rows")],
    )


def call(site: Site) -> Finding | None:
    rows = site.operand(0, "num_embeddings", "input_dim")
    if rows is None:
        return None
    return _padding_outside(site, rows) or _counted_from_one(site, rows)


def _padding_outside(site: Site, rows: Value) -> Finding | None:
    padding = site.operand(2, "padding_idx") if site.name == "torch.nn.Embedding" else None
    if padding is None:
        return None
    count, index = whole(rows), whole(padding)
    outside = (index >= count) if count is not None and index is not None else same(rows, padding)
    if not outside:
        return None
    return tell.found(
        "embedding-too-small",
        site,
        title="padding_idx lies behind the last row of the embedding",
        chain=[tell.because(padding, "the index of the padding needs a row of its own")],
        fixes=[Fix("one row more for it", _one_more(site))],
    )


def _counted_from_one(site: Site, rows: Value) -> Finding | None:
    if rows.op != "len" or not rows.inputs:
        return None
    words = rows.inputs[0]
    why = None
    if words.op == "attr:word_index" and words.inputs and _counts_all(words.inputs[0]):
        why = tell.because(rows, "Keras' Tokenizer counts words from 1: the highest index is len(word_index)")
    elif words.kind == "mapping" and _starts_at_one(words):
        why = tell.because(words, "here the words are counted from 1: the highest index is the number of words")
    if why is None:
        return None
    return tell.found(
        "embedding-too-small",
        site,
        title="indices start at 1, so the last one has no row",
        chain=[why, tell.because(site.node, "the embedding has the rows 0 to len - 1", site.spot.file)],
        fixes=[Fix("one row more: len(...) + 1", _one_more(site))],
    )


def _counts_all(tokenizer: Value) -> bool:
    """A Tokenizer without num_words gives every word its index."""
    return tokenizer.api.endswith("text.Tokenizer") and tokenizer.option("0", "num_words", "**") is None


def _starts_at_one(words: Value) -> bool:
    """`{word: i + 1 for i, word in enumerate(vocabulary)}`, or enumerate(vocabulary, 1), with nothing added later."""
    node = words.node
    if not isinstance(node, ast.DictComp) or words.attrs or len(words.parts or ()) != 1 or len(node.generators) != 1:
        return False
    source = node.generators[0].iter
    if not (isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "enumerate"):
        return False
    start = next(
        (one.value for one in source.keywords if one.arg == "start"), source.args[1] if len(source.args) > 1 else None
    )
    if isinstance(node.value, ast.Name):
        return isinstance(start, ast.Constant) and start.value == 1
    return (
        start is None
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Add)
        and (isinstance(node.value.right, ast.Constant) and node.value.right.value == 1)
    )


def _one_more(site: Site) -> tuple:  # type: ignore[type-arg]
    node = next((k.value for k in site.node.keywords if k.arg in ("num_embeddings", "input_dim")), None)
    node = node or (site.node.args[0] if site.node.args else None)
    return (
        (tell.insert_after(site.spot.file, node, " + 1"),)
        if isinstance(node, ast.Name | ast.Call | ast.Constant)
        else ()
    )
