"""Two files of weights: which arrays are the same, in which layout, what is missing, and the code that converts."""
