"""Watching training in JAX: what is differentiated is read as a jaxpr; the rules are the same. Imports no torch."""
