"""A learning rate no network learns with, given the optimiser's convention."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import hyperparameters, tell, training, weights
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = tuple(hyperparameters.OPTIMIZERS)

# Adam, RMSprop and their kin move each weight by about the rate at every step. Weights are about 0.01 to 1 in size, so
# that at 0.5 one step throws them all away. From 0.1 on it is worth a hint: tiny models can bear it.
_ADAPTIVE_TOO_HIGH = 0.5
_ADAPTIVE_SUSPECT = 0.1
# Plain gradient descent depends on the scale of the loss. Rates of 1 to 5 exist in large-batch recipes, 10 in none.
_SGD_TOO_HIGH = 10.0
# Other families (Adadelta, Adagrad, LBFGS) have 1 as a usual rate.


def call(site: Site) -> Finding | None:
    optimizer = site.result
    rate = hyperparameters.number(optimizer, "rate")
    if rate is None or rate < _ADAPTIVE_SUSPECT or not _trains_a_network(site, 1 if rate >= _ADAPTIVE_TOO_HIGH else 2):
        return None
    if hyperparameters.is_adaptive(optimizer):
        limit, usual = _ADAPTIVE_SUSPECT, "0.001"
    elif optimizer.api.rpartition(".")[2] in ("SGD", "sgd", "GradientDescentOptimizer", "MomentumOptimizer"):
        limit, usual = _SGD_TOO_HIGH, "0.01 to 0.1"
    else:
        return None
    if rate < limit:
        return None
    sure = rate >= _ADAPTIVE_TOO_HIGH
    name = optimizer.api.rpartition(".")[2]
    return tell.found(
        "learning-rate-too-high",
        site,
        title=f"a learning rate of {rate:g} is too high for {name}" if sure else f"{rate:g} is a high rate for {name}",
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        evidence=[Evidence("learning rate", rate)],
        fixes=[Fix(f"start at {usual}, the usual rate for {name}")],
    )


def _trains_a_network(site: Site, more_layers_than: int) -> bool:
    """The weights of a whole network, not an input or a latent code that is searched for, nor a tiny model."""
    if not site.name.startswith("torch."):
        return True
    network = training.network_of(site.result)
    if network is None:
        return False
    layers = network.parts if network.kind == "module" and network.parts is not None else network.attrs.values()
    return sum(_has_weights(one) for one in layers) > more_layers_than


def _has_weights(layer: Value) -> bool:
    return layer.kind == "instance" or (layer.kind == "module" and weights.holds_weights(layer))
