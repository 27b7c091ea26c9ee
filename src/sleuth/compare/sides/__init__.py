"""One file a runtime."""
