import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def seeded(seed, device):
    generator = torch.Generator(device=device)
    generator.manual_seed(seed)
    return generator


def main(seed=17):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = seeded(seed, device)
    weights = torch.randn(5, 1, generator=generator, device=device)
    inputs = torch.rand(100, 5)
    data = TensorDataset(inputs, inputs @ weights.cpu())
    loader = DataLoader(data, batch_size=20, shuffle=True, generator=seeded(seed, "cpu"))
    model = nn.Linear(5, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for epoch in range(3):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
