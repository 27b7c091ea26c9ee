"""Sleuth inside other people's programs and tools."""
