"""One file a way of crashing in JAX, with `explain(trouble) -> Finding | None`; one marked FALLBACK comes last."""
