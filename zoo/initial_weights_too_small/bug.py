import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {"width": 64, "layers": 6, "batch_size": 40, "epochs": 10, "lr": 0.02, "init_std": 0.001}


class Network(nn.Module):
    def __init__(self, inputs, outputs, width, layers):
        super().__init__()
        sizes = [inputs] + [width] * (layers - 1)
        blocks = []
        for a, b in zip(sizes, sizes[1:]):
            blocks += [nn.Linear(a, b), nn.ReLU()]
        blocks.append(nn.Linear(width, outputs))
        self.net = nn.Sequential(*blocks)
        self.reset()

    def reset(self):
        for module in self.net:
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=CONFIG["init_std"])
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.net(x)


def letters(count=1000):
    mean = torch.randn(8, 16)
    letter = torch.randint(0, 8, (count,))
    return TensorDataset(mean[letter] + 0.6 * torch.randn(count, 16), letter)


def main():
    torch.manual_seed(31)
    loader = DataLoader(letters(), batch_size=CONFIG["batch_size"], shuffle=True)
    net = Network(16, 8, CONFIG["width"], CONFIG["layers"])
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=CONFIG["lr"], momentum=0.9)
    for epoch in range(CONFIG["epochs"]):
        losses = []
        for x, letter in loader:
            optimizer.zero_grad()
            loss = criterion(net(x), letter)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")


main()
