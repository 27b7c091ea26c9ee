import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split

batch_size = 50
epochs = 2


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(12 * 12, 40)
        self.layer2 = nn.Linear(40, 3)

    def forward(self, images):
        x = images.view(images.size(0), 12 * 12)
        return self.layer2(torch.relu(self.layer1(x)))


def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, shapes in loader:
            guess = model(images.to(device)).argmax(1).cpu()
            right += (guess == shapes).sum().item()
            total += len(shapes)
    return right / total


torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.rand(540, 1, 12, 12), torch.randint(0, 3, (540,)))
training, validation = random_split(data, [400, 140])
train_loader = DataLoader(training, batch_size, shuffle=True)
val_loader = DataLoader(validation, batch_size)
model = Perceptron().to(device)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(epochs):
    model.train()
    for images, shapes in train_loader:
        loss = nn.functional.cross_entropy(model(images.to(device)), shapes.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), accuracy(model, val_loader, device))
