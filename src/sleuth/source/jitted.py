"""Functions that JAX traces: which parameters arrive as tracers, and what was computed from them."""

from __future__ import annotations

from sleuth.source.scopes import FunctionInfo
from sleuth.source.values import Value, ancestors

_COMPILE = frozenset({"jax.jit", "jax.pjit", "jax.pmap"})
# What is known of a tracer while tracing, and so may steer Python.
_STATIC = frozenset(
    "attr:shape attr:ndim attr:dtype attr:size len size builtin:isinstance builtin:len builtin:type builtin:callable "
    "builtin:hasattr builtin:getattr attr:sharding api:jax.numpy.ndim api:jax.numpy.shape "
    "api:jax.numpy.issubdtype".split()
)


def traced_parameters(function: FunctionInfo | None) -> frozenset[str] | None:
    """The parameters that are tracers in a function under jax.jit; None where the function is not compiled."""
    if function is None:
        return None
    for decorator in function.decorators:
        options = _compiled_with(decorator)
        if options is not None:
            return _not_static(function, options)
    return None


def _compiled_with(decorator: Value) -> dict[str, Value] | None:
    if decorator.kind == "api" and decorator.api in _COMPILE:
        return decorator.options
    if decorator.op == "api:functools.partial":
        inner = decorator.option("0")
        return decorator.options if inner is not None and inner.api in _COMPILE else None
    if decorator.api in _COMPILE:
        return decorator.options
    return None


def _not_static(function: FunctionInfo, options: dict[str, Value]) -> frozenset[str] | None:
    names = [parameter.arg for parameter in function.parameters()]
    static: set[str] = set()
    for key in ("static_argnums", "static_argnames"):
        given = options.get(key)
        if given is None:
            continue
        words = given.parts if given.parts is not None else [given]
        for word in words:
            if isinstance(word.const, str):
                static.add(word.const)
            elif isinstance(word.const, int) and -len(names) <= word.const < len(names):
                static.add(names[word.const])
            else:
                return None
    return frozenset(names) - static - {"self", "cls"}


def tracer_in(value: Value, traced: frozenset[str]) -> Value | None:
    """The parameter a value was computed from, other than through what is known while tracing."""
    wanted = {f"param:{name}" for name in traced}
    for one in ancestors(value, stop=lambda v: v.op in _STATIC):
        if one.op in wanted:
            return one
    return None
