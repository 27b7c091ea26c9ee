"""Every colour can be read on white and on black."""

from __future__ import annotations

import pytest
from rich.color import Color

from sleuth.report import palette

COLOURS = {name: value for name, value in vars(palette).items() if name.isupper()}
# What the guidelines for web content ask of large text is 3, of small text 4.5; no colour has 4.6 on both grounds.
ENOUGH = 4


def brightness(colour: str) -> float:
    """Relative luminance as the guidelines for web content define it."""
    parts = (channel / 255 for channel in Color.parse(colour).get_truecolor())
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_stands_out_from_white_and_from_black(name: str) -> None:
    light = brightness(COLOURS[name])
    assert 1.05 / (light + 0.05) >= ENOUGH
    assert (light + 0.05) / 0.05 >= ENOUGH
