"""What a verb means of an object, and the phase that the two together belong to."""

from __future__ import annotations

from collections.abc import Collection, Set

FORMS_OF_DATA = frozenset("data tensor image variable matrix dataset batch vector placeholder label".split())
_MODELS = frozenset("model trained-model model-graph saved-model-file weight trained-weight checkpoint layer".split())
_MAKE = frozenset("create use change add insert compute initialize".split())
# Whoever writes, uses or customises one of these wants it computed.
_COMPUTED = frozenset("loss gradient accuracy other-metrics derivative result".split())
_BY_THEMSELVES = {"feed": frozenset({"placeholder"}), "train": frozenset({"variable"}), "test": frozenset[str]()}

# What a thing has already, and only needs to be asked for.
_MEASURES = frozenset("shape dimension dimensions length size number".split())

_PHASES = {
    "data-processing": FORMS_OF_DATA,
    "model-setting": frozenset(
        "layer model weight trained-model model-graph activation saved-model-file trained-weight filter operation "
        "summary".split()
    ),
    "model-training": frozenset(
        "loss gradient checkpoint learning-rate statement progress training-step optimizer session history "
        "derivative".split()
    ),
    "model-prediction": frozenset({"prediction-result", "threshold"}),
    "model-evaluation": frozenset("accuracy other-metrics result time method".split()),
    "runtime-environment": frozenset("gpu gpu-memory gpu-cpu tpu cpu ram".split()),
    "visualization": frozenset({"tensorboard"}),
}
_PHASE_OF = {thing: phase for phase, things in _PHASES.items() for thing in things}
# What is trained, and what a trained model is asked for.
_TRAINED = frozenset("model trained-model weight variable batch layer".split())
_ASKED = frozenset("model layer weight".split())
_SHOWN = {
    "model": "model",
    "trained-model": "model",
    "model-graph": "model",
    "layer": "layer",
    "weight": "layer",
    "filter": "layer",
    "activation": "layer",
    "accuracy": "evaluation",
    "other-metrics": "evaluation",
    "loss": "progress",
    "progress": "progress",
    "history": "progress",
    "learning-rate": "progress",
    "prediction-result": "result",
    "tensorboard": "tensorboard",
}


def sense_of(verb: str, thing: str, others: Collection[str], words: Set[str]) -> tuple[str, str]:
    """Verb and object as the study would say them. `others` are the title's objects, `words` those near the verb."""
    if verb == "use" and thing in ("model", "trained-model"):
        return "test", "model"
    verb = _verb(_verb_by_words(verb, thing, words), thing)
    return verb, _thing(verb, thing, others, words)


def _verb_by_words(verb: str, thing: str, words: Set[str]) -> str:
    if verb == "save" and thing in _MODELS and words & {"restore", "load", "reload"}:
        # It is saved so that it can be restored.
        return "restore"
    if verb in ("get", "compute") and words & {"if", "whether"}:
        return "check"
    if verb == "compute" and words & _MEASURES and thing not in _COMPUTED:
        return "get"
    if verb == "change" and words & {"shape", "dimension", "dimensions"}:
        return "reshape"
    return verb


def _verb(verb: str, thing: str) -> str:
    if verb == "update" and thing in FORMS_OF_DATA:
        return "change"
    if verb == "extract" and thing not in FORMS_OF_DATA:
        return "get"
    if verb == "read" and thing in _MODELS:
        return "restore"
    if verb == "restore" and thing in FORMS_OF_DATA:
        return "read"
    if verb in _MAKE and thing in _COMPUTED:
        return "compute"
    if verb in ("use", "add") and thing in ("layer", "activation", "model", "filter"):
        return "create"
    return verb


def _thing(verb: str, thing: str, others: Collection[str], words: Set[str]) -> str:
    if verb in ("create", "remove") and thing == "layer" and "trained-model" in others:
        return "trained-model"
    # Data are fed to a model, a model is trained on data and asked about data: it is the model that this is about.
    if verb in ("feed", "train", "test") and thing in FORMS_OF_DATA - _BY_THEMSELVES[verb]:
        return "model"
    if verb == "split" and ("dataset" in others or words & {"train", "training", "test", "validation"}):
        return "dataset"
    return thing


def phase_of(verb: str, thing: str) -> tuple[str, str]:
    """The phase, and the object as that phase calls it."""
    if verb == "display":
        return "visualization", _SHOWN.get(thing, "data")
    if verb in ("train", "tune", "update") and thing in _TRAINED:
        return "model-training", thing
    if verb == "test" and thing in (*_ASKED, "trained-model"):
        return "model-prediction", "model" if thing == "trained-model" else thing
    return _PHASE_OF.get(thing, "data-processing"), thing
