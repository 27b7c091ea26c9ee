"""How much memory the real card would need, and for what."""
