import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def train(model, loader, criterion, optimizer, epoch):
    model.train()
    for step, (image, label) in enumerate(loader):
        image = image.to(device, non_blocking=True)
        optimizer.zero_grad()
        output = model(image)
        loss = criterion(output, label.to(device, non_blocking=True))
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(f"Epoch {epoch} [{step}/{len(loader)}] loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.rand(160, 1, 10, 10), torch.randint(0, 10, (160,)))
    loader = DataLoader(data, batch_size=20, shuffle=True, pin_memory=torch.cuda.is_available())
    model = nn.Sequential(nn.Flatten(), nn.Linear(100, 30), nn.ReLU(), nn.Linear(30, 10)).to(device)
    for epoch in range(2):
        train(model, loader, nn.CrossEntropyLoss(), optim.SGD(model.parameters(), 0.1), epoch)
