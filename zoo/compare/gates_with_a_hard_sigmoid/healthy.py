"""A classifier of sequences, and its port with the cell written out."""

import torch
from torch import nn


def gate(x):
    return torch.sigmoid(x)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs)


class Ported(Classifier):
    def step(self, x, hidden, memory):
        w, u, b, c = self.lstm.weight_ih_l0, self.lstm.weight_hh_l0, self.lstm.bias_ih_l0, self.lstm.bias_hh_l0
        i, f, g, o = (x @ w.T + b + hidden @ u.T + c).chunk(4, -1)
        memory = gate(f) * memory + gate(i) * torch.tanh(g)
        return gate(o) * torch.tanh(memory), memory

    def forward(self, x):
        hidden, memory, outputs = x.new_zeros(x.shape[0], 8), x.new_zeros(x.shape[0], 8), []
        for place in range(x.shape[1]):
            hidden, memory = self.step(x[:, place], hidden, memory)
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
