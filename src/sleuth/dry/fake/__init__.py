"""Tensors with a shape and no numbers, for programs whose numbers would cost too much."""
