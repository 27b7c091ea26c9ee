"""Watching Keras 3: on JAX by the jaxpr of its loss, on torch through the listener for torch. The rules are one."""
