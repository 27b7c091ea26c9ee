import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, question, memory, is_padding):
        scores = torch.einsum("bd,bnd->bn", self.project(question), memory)
        scores = scores.masked_fill(is_padding, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=1)
        return torch.einsum("bn,bnd->bd", weights, memory)


reader = Reader(16)
answer = reader(torch.randn(4, 16), torch.randn(4, 9, 16), torch.zeros(4, 9, dtype=torch.bool))
