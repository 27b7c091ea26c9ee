"""How many of the findings of `sleuth check` are true, on code that nobody here wrote."""
