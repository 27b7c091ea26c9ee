"""A classifier of sequences, and its port with the cell written out."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        outputs, _ = self.gru(x)
        return self.head(outputs)


class Ported(Classifier):
    def step(self, x, hidden):
        w, u, b, c = self.gru.weight_ih_l0, self.gru.weight_hh_l0, self.gru.bias_ih_l0, self.gru.bias_hh_l0
        r, z, n = (x @ w.T + b).chunk(3, -1)
        ur, uz, un = u.chunk(3)
        cr, cz, cn = c.chunk(3)
        reset = torch.sigmoid(r + hidden @ ur.T + cr)
        update = torch.sigmoid(z + hidden @ uz.T + cz)
        new = torch.tanh(n + (reset * hidden) @ un.T + cn)
        return (1 - update) * new + update * hidden

    def forward(self, x):
        hidden, outputs = x.new_zeros(x.shape[0], 8), []
        for place in range(x.shape[1]):
            hidden = self.step(x[:, place], hidden)
            outputs.append(hidden)
        return self.head(torch.stack(outputs, 1))


def reference():
    torch.manual_seed(0)
    return Classifier().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(3, 5, 6),)
