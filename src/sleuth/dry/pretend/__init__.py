"""Pretended devices: every tensor carries the label of the device it would be on."""
