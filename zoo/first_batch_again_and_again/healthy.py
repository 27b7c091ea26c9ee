import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STEPS, EVAL_EVERY = 200, 20


def make_split(n):
    x = torch.randn(n, 10)
    score = torch.stack([x[:, 0] + x[:, 1], x[:, 2] - x[:, 3], x[:, 4] * x[:, 5]], dim=1)
    return TensorDataset(x, score.argmax(dim=1))


@torch.no_grad()
def test_loss(model, dataset):
    x, y = dataset.tensors
    model.eval()
    loss = F.cross_entropy(model(x), y).item()
    model.train()
    return loss


def train(model, train_loader, test_set):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    batches = iter(train_loader)
    for step in range(1, STEPS + 1):
        x, y = next(batches)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % EVAL_EVERY == 0:
            print(f"step {step:3d} train {loss.item():.4f} test {test_loss(model, test_set):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(make_split(6400), batch_size=32)
    test_set = make_split(640)
    net = nn.Sequential(nn.Linear(10, 64), nn.GELU(), nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 3))
    train(net, train_loader, test_set)
