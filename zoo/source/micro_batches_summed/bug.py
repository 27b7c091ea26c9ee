import torch
from torch import nn

ACCUMULATE = 4


def train(model, loader, device, epochs=3):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    model.train()
    for epoch in range(epochs):
        optimizer.zero_grad()
        for index, (images, labels) in enumerate(loader):
            images, labels = images.to(device), labels.to(device)
            loss = criterion(model(images), labels)
            loss.backward()
            if (index + 1) % ACCUMULATE == 0 or index + 1 == len(loader):
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                optimizer.zero_grad()
            if index % 100 == 0:
                print(f"epoch {epoch} batch {index}: {loss.item():.4f}")
