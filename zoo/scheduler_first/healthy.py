import torch
from torch import nn, optim
from torch.optim import lr_scheduler

torch.manual_seed(12)
NUM_EPOCHS, BATCH = 6, 32

# pharmacokinetics: concentration from dose, weight, age and time
patients = torch.randn(960, 4)
dose, weight, age, time = patients.unbind(dim=1)
concentration = dose * torch.exp(-0.5 * time) - 0.5 * weight + 0.3 * torch.sin(2 * age)
concentration = (concentration - concentration.mean()) / concentration.std()

model = nn.Sequential(
    nn.Linear(4, 50),
    nn.Softplus(),
    nn.Linear(50, 50),
    nn.Softplus(),
    nn.Linear(50, 1),
)
optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.8)
scheduler = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.4)
criterion = nn.MSELoss()

for epoch in range(NUM_EPOCHS):
    epoch_loss = 0.0
    for index in torch.randperm(len(patients)).split(BATCH):
        prediction = model(patients[index]).flatten()
        loss = criterion(prediction, concentration[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(index)
    print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.5f} loss {epoch_loss / len(patients):.4f}")
    scheduler.step()
