import torch

torch.manual_seed(0)
n, features, classes = 256, 20, 4

centres = torch.randn(classes, features) * 3
labels = torch.randint(0, classes, (n,))
x = centres[labels] + torch.randn(n, features)
y = torch.zeros(n, classes)
y[torch.arange(n), labels] = 1.0

W = torch.zeros(features, classes, requires_grad=True)
b = torch.zeros(classes, requires_grad=True)
optimizer = torch.optim.SGD([W, b], lr=0.5)

for epoch in range(60):
    logits = x @ W + b
    p = torch.softmax(logits * (1 + epoch), dim=1)
    loss = -(y * torch.log(p)).sum(dim=1).mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if epoch % 5 == 0:
        accuracy = (p.argmax(1) == labels).float().mean()
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}  accuracy {accuracy.item():.3f}")

print("weights norm", W.norm().item())
