"""A traced value used where Python or NumPy needs a number."""

from __future__ import annotations

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding

_DIAGNOSES = {
    "TracerBoolConversionError": ("python-branch-on-tracer", "jnp.where or jax.lax.cond instead of `if`"),
    "TracerArrayConversionError": ("numpy-in-jit", "the function of the same name in jax.numpy"),
    "TracerIntegerConversionError": ("python-branch-on-tracer", "static_argnums, or jnp indexing"),
    "ConcretizationTypeError": ("python-branch-on-tracer", "x.astype(...) inside, float(x) outside of jit"),
    "NonConcreteBooleanIndexError": ("python-branch-on-tracer", "jnp.where(mask, x, 0) keeps the shape"),
    "UnexpectedTracerError": ("side-effect-in-jit", "return the value instead of storing it outside"),
}


def explain(trouble: Trouble) -> Finding | None:
    error = type(trouble.crash.error).__name__
    if error in _DIAGNOSES:
        diagnosis, fix = _DIAGNOSES[error]
        return trouble.finding(diagnosis, _title(trouble), fixes=[fix])
    if "Shapes must be 1D sequences of concrete values" in trouble.text:
        title = "a shape that depends on a traced value"
        return trouble.finding("python-branch-on-tracer", title, fixes=["static_argnums for what decides a shape"])
    return None


def _title(trouble: Trouble) -> str:
    names = [birth for birth in trouble.births if birth.name]
    about = f" ({names[0].name}: {names[0].dtype}{list(names[0].shape)})" if names else ""
    return f"{trouble.text.splitlines()[0].rstrip('.')}{about}"
