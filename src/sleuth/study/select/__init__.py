"""Choosing posts: filters that mean the same on every engine, presets written as data, and the funnel they leave."""

from sleuth.study.select.preset import BadPreset, Preset, Step, load, names
from sleuth.study.select.selection import FunnelStep, Selection, select

__all__ = ["BadPreset", "FunnelStep", "Preset", "Selection", "Step", "load", "names", "select"]
