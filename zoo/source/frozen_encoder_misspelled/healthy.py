import torch
from torch import nn


class Recogniser(nn.Module):
    def __init__(self, encoder, width, phones):
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(width, phones)

    def forward(self, frames):
        states, _ = self.encoder(frames)
        return self.classifier(states)


def load(path):
    encoder = nn.GRU(80, 256, num_layers=3, batch_first=True)
    encoder.load_state_dict(torch.load(path, weights_only=True))
    for name, weight in encoder.named_parameters():
        print("freezing", name)
        weight.requires_grad = False
    return encoder


def main():
    model = Recogniser(load("encoder.pt"), 256, 39)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    print(optimizer)


if __name__ == "__main__":
    main()
