import torch

from .model import Classifier
from .text import Collate, Reviews


def train(epochs=3):
    torch.manual_seed(0)
    data = Reviews()
    loader = torch.utils.data.DataLoader(data, batch_size=16, collate_fn=Collate())
    model = Classifier(vocab=50)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for words, padding, stars in loader:
            loss = torch.nn.functional.cross_entropy(model(words, padding), stars)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    train()
