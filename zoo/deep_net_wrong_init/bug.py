import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, depth=20, width=64):
        super().__init__()
        sizes = [10] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        h = x
        for layer in self.layers:
            h = torch.relu(layer(h))
        return self.out(h).squeeze(-1)


def main():
    torch.manual_seed(0)
    x = torch.randn(256, 10)
    y = (x[:, 0] > 0).float()
    model = Deep()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(20):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4g}")


if __name__ == "__main__":
    main()
