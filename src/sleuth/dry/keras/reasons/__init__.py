"""One file a way of crashing in Keras, each with `explain(trouble) -> Finding | None`; one marked FALLBACK comes last."""
