"""Counts the weights of a table of layers and the share that a mask keeps."""

import numpy as np

shapes = [(64, 3, 7, 7), (128, 64, 3, 3), (10, 128)]
sizes = np.array([np.prod(shape) for shape in shapes], dtype=np.float)
kept = np.array([0.5, 0.25, 1.0])
print(sizes.sum(), (sizes * kept).sum() / sizes.sum())
