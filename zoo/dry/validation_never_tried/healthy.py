import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(11, 22), nn.ReLU(), nn.Linear(22, 2))

    def forward(self, x):
        return self.layers(x)


def train_one_epoch(model, loader, optimizer, device):
    model.train()
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    correct, count = 0, 0
    for inputs, targets in loader:
        outputs = model(inputs.to(device))
        correct += (outputs.argmax(1) == targets.to(device)).sum().item()
        count += len(targets)
    return correct / count


def main(epochs=20, validate_every=10):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(200, 11)
    training, validation = random_split(TensorDataset(x, (x.sum(1) > 0).long()), [160, 40])
    train_loader, val_loader = DataLoader(training, 32, shuffle=True), DataLoader(validation, 20)
    model = Model().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(1, epochs + 1):
        loss = train_one_epoch(model, train_loader, optimizer, device)
        if epoch % validate_every == 0:
            print(epoch, loss, validate(model, val_loader, device))


if __name__ == "__main__":
    main()
