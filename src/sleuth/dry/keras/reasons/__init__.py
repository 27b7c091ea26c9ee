"""One file a way of crashing in Keras, with `explain(trouble) -> Finding | None`; one marked FALLBACK comes last."""
