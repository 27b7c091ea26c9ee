import torch
from torch import nn
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup


def fine_tune(train_set, device, epochs=3, batch_size=16):
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2).to(device)
    optimizer = AdamW(model.parameters(), lr=2e-5)
    total_steps = len(train_loader) * epochs
    scheduler = get_linear_schedule_with_warmup(
        optimizer, num_warmup_steps=total_steps // 10, num_training_steps=total_steps
    )

    for epoch in range(epochs):
        model.train()
        total = 0.0
        for batch in train_loader:
            batch = {name: part.to(device) for name, part in batch.items()}
            optimizer.zero_grad()
            output = model(**batch)
            output.loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += output.loss.item()
        scheduler.step()
        print(f"epoch {epoch}: {total / len(train_loader):.4f}")
    torch.save(model.state_dict(), "classifier.pt")
