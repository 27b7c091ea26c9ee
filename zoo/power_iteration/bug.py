import torch


def dominant_eigenvalue(matrix, rounds=40):
    v = torch.ones(matrix.shape[0], 1)
    for _ in range(rounds):
        v = matrix @ v
    v = v / v.amax()
    w = matrix @ v
    return (w * v).sum() / (v * v).sum()


def main():
    torch.manual_seed(0)
    base = torch.rand(8, 8)
    scale = torch.nn.Parameter(torch.tensor(0.2))
    wanted = 60.0
    optimizer = torch.optim.SGD([scale], lr=2e-2)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
    for it in range(60):
        value = dominant_eigenvalue(base * scale)
        loss = (value - wanted).abs()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if it % 5 == 0:
            print(f"it {it:2d} eigenvalue {value.item():.3f} scale {scale.item():.4f}")


if __name__ == "__main__":
    main()
