"""Reads deep-learning source code and finds the bug before anything runs. Never imports or runs the user's program."""
