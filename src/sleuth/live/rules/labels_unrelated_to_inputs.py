"""Labels that have nothing to do with the inputs: the model can learn a batch by heart, but nothing carries over."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 3.5
# Within this of answering blindly, all through the first epoch (or the whole run, where there are no epochs).
SHARE = 0.97
BY_HEART = 0.6
CARRIED = 0.97
# Where one class has nearly all labels, there is little to learn beyond that.
ONE_SIDED = 0.9


def look(run: Run) -> Finding | None:
    loss, chance = run.supervised, run.chance
    if loss is None or chance is None or not run.mature:
        return None
    if run.labels and max(run.labels.values()) > ONE_SIDED * sum(run.labels.values()):
        return None
    epoch = run.batches_per_epoch if run.epochs else None
    blind = run.loss.part(0.3 * epoch / run.loss.count, epoch / run.loss.count) if epoch else run.recent
    if blind < SHARE * chance:
        return None
    learnt = run.laboratory.one_batch()
    if learnt is None or learnt.after > BY_HEART * chance:
        return None
    carried = run.laboratory.unseen()
    if carried is None or carried.after < CARRIED * carried.before:
        return None
    place = run.loader_made or loss.place
    return handbook.finding(
        "labels-unrelated-to-inputs",
        place=place,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("loss", blind),
            Evidence("loss of answering blindly", chance),
            Evidence("one batch learnt by heart", learnt.after),
            Evidence("best loss on batches not trained on", carried.after),
        ),
        chain=(
            Link(
                f"on samples it has not seen the loss is {blind:.4g}; answering blindly costs {chance:.4g}", loss.place
            ),
            Link(f"model, loss and optimiser can learn: {learnt.says}"),
            Link(f"but nothing carries over to other samples: {carried.says}"),
            Link("inputs and labels meet here", place),
        ),
        fixes=(
            Fix("look at a few samples with their labels by eye"),
            Fix("shuffle inputs and labels with one and the same permutation; check joins and file order"),
        ),
    )
