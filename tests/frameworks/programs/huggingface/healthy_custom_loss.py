import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainingArguments, set_seed


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        return self.head(self.body(x))


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["x"])
        loss = F.cross_entropy(logits, inputs["labels"], weight=torch.tensor([1.0, 2.0]))
        return (loss, {"logits": logits}) if return_outputs else loss


def collate(samples):
    x, y = zip(*samples, strict=True)
    return {"x": torch.stack(x), "labels": torch.stack(y)}


set_seed(0)
x = torch.randn(1200, 8)
y = (x[:, 0] + x[:, 1] > 1).long()
model = Classifier()
optimizer = torch.optim.AdamW(
    [{"params": model.body.parameters(), "lr": 3e-3}, {"params": model.head.parameters(), "lr": 1e-2}]
)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.99)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=16,
    num_train_epochs=2,
    max_grad_norm=0.5,
    save_strategy="no",
    eval_strategy="steps",
    eval_steps=50,
    report_to="none",
    use_cpu=True,
    remove_unused_columns=False,
    label_names=["labels"],
    disable_tqdm=True,
)
trainer = WeightedTrainer(
    model=model,
    args=arguments,
    train_dataset=TensorDataset(x[:1000], y[:1000]),
    eval_dataset=TensorDataset(x[1000:], y[1000:]),
    data_collator=collate,
    optimizers=(optimizer, scheduler),
)
trainer.train()
