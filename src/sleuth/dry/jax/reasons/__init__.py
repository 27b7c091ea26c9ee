"""One file a way of crashing in JAX, each with `explain(trouble) -> Finding | None`; one marked FALLBACK comes last."""
