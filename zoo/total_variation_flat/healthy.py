import torch

torch.manual_seed(3)

size = 24
clean = torch.zeros(size, size)
clean[6:18, 6:18] = 1.0
noisy = clean + 0.2 * torch.randn(size, size)


def total_variation(img):
    dx = img[1:, :-1] - img[:-1, :-1]
    dy = img[:-1, 1:] - img[:-1, :-1]
    return (dx**2 + dy**2 + 1e-8).sqrt().mean()


image = torch.nn.Parameter(noisy.clone())
optimizer = torch.optim.Adam([image], lr=0.05)
for it in range(60):
    optimizer.zero_grad()
    fidelity = ((image - noisy) ** 2).mean()
    loss = fidelity + 0.5 * total_variation(image)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        image.clamp_(0.0, 1.0)
    if it % 10 == 0:
        print(f"iteration {it}: loss {loss.item():.5f}, error {(image - clean).abs().mean().item():.4f}")
