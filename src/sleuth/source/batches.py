"""What a loader deals: which data set a part of a batch comes from, and what is known of it there."""

from __future__ import annotations

from sleuth.source import image_sets
from sleuth.source.values import Value


def dataset_and_position(value: Value) -> tuple[Value, int] | None:
    """The data set behind one part of a batch, and which part it is."""
    if value.op != "batch" or len(value.inputs) != 2 or type(value.inputs[1].const) is not int:
        return None
    batch = value.inputs[0]
    loader = batch.inputs[0] if batch.inputs else None
    if loader is None or loader.kind != "loader" or loader.option("collate_fn") is not None:
        return None
    dataset = loader.option("dataset", "0")
    return None if dataset is None else (dataset, value.inputs[1].const)


def describe(part: Value) -> None:
    """Give a part of a batch the shape and type of the tensors that its data set deals, where these are known."""
    dealt = dataset_and_position(part)
    if dealt is None:
        return
    dataset, position = dealt
    size = part.inputs[0].inputs[0].option("batch_size")
    if size is not None and size.const is None:
        return
    if dataset.api.startswith("torchvision.datasets.") and position == 0:
        image = image_sets.shape_of(dataset)
        if image is not None:
            part.dtype, part.shape = "float32", (None, *image)
        return
    stored = dataset.option(str(position)) if dataset.api == "torch.utils.data.TensorDataset" else None
    if stored is None:
        return
    part.dtype = stored.dtype
    # The last batch may be smaller: its size is not known.
    part.shape = None if not stored.shape else (None, *stored.shape[1:])
