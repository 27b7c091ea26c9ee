import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


class Points(Dataset):
    def __init__(self, count):
        self.x = torch.randn(count, 8)
        self.y = (self.x[:, 0] + 2 * self.x[:, 1] > 0).long()
        self.x[411] = 0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i], "labels": self.y[i]}


class Cosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 32)
        self.out = nn.Linear(32, 2)

    def forward(self, x, labels=None):
        # mended: x = F.normalize(x, dim=1)
        x = x / x.norm(dim=1, keepdim=True)  # found: division-by-zero
        logits = self.out(torch.relu(self.hidden(x)))
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


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
Trainer(model=Cosine(), args=arguments, train_dataset=Points(960)).train()
