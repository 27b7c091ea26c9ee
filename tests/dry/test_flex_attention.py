"""Attention by functions of the user's, on a pretended card: its masks are made there, too."""

from __future__ import annotations

from pathlib import Path

from rehearsing import rehearsed

ATTENTION = """
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
q, k, v = (torch.randn(1, 2, 128, 16, device="cuda", requires_grad=True) for _ in range(3))
mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 128, 128, device="{device}")
flex_attention(q, k, v, block_mask=mask, score_mod=lambda score, b, h, i, j: score + (i - j) * 0.1).sum().backward()
"""


def test_it_comes_to_its_end(tmp_path: Path) -> None:
    done = rehearsed(tmp_path, ATTENTION.format(device="cuda"))
    assert (done.plain.how, done.report.findings) == ("ended", ()), done.plain.end
