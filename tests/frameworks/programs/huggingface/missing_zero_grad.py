import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


class Points(Dataset):
    def __init__(self, count):
        self.x = torch.randn(count, 8)
        self.y = (self.x[:, 0] + 2 * self.x[:, 1] > 0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x, labels=None):
        logits = self.net(x)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}  # found: missing-zero-grad

    def zero_grad(self, set_to_none=True):
        # mended: super().zero_grad(set_to_none)
        self.seen = [p.grad for p in self.parameters()]


set_seed(0)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=16,
    num_train_epochs=2,
    learning_rate=3e-3,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model=Classifier(), args=arguments, train_dataset=Points(960))
trainer.train()
