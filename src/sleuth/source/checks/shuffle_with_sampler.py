"""A DataLoader given two orders at once, which it refuses."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = ("torch.utils.data.DataLoader",)


def call(site: Site) -> Finding | None:
    shuffle = site.operand(2, "shuffle")
    shuffles = shuffle is not None and shuffle.const is True
    sampler, batches = site.operand(3, "sampler"), site.operand(4, "batch_sampler")
    if shuffles and _is_there(sampler):
        return _told(
            site, "shuffle=True and a sampler exclude each other", "leave out shuffle=True: the sampler decides"
        )
    if _is_there(batches):
        size, rest = site.operand(1, "batch_size"), site.operand(8, "drop_last")
        other = "shuffle=True" if shuffles else "a sampler" if _is_there(sampler) else None
        if size is not None and size.number() not in (None, 1):
            other = "batch_size"
        elif rest is not None and rest.const is True:
            other = "drop_last"
        if other is not None:
            return _told(site, f"{other} and a batch sampler exclude each other", f"leave out {other}")
    data = site.operand(0, "dataset")
    if shuffles and data is not None and _is_stream(data):
        return _told(site, "a stream of samples cannot be shuffled by the loader", "shuffle inside the data set")
    return None


def _is_there(given: Value | None) -> bool:
    """Surely a sampler, and not None."""
    return given is not None and (given.kind == "instance" or given.api.startswith("torch.utils.data."))


def _is_stream(data: Value) -> bool:
    info = data.info
    return (
        data.kind == "instance"
        and isinstance(info, ClassInfo)
        and info.derives_from("torch.utils.data.IterableDataset")
    )


def _told(site: Site, title: str, fix: str) -> Finding:
    return tell.found("shuffle-with-sampler", site, title=title, fixes=[Fix(fix)])
