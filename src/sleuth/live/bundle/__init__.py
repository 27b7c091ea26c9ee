"""The crash bundle: all that a failing step started from in one file, and the step re-created from it."""
