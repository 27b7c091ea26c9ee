import torch
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
        return {"x": self.x[i], "y": self.y[i]}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 32)  # found: dead-units
        self.out = nn.Linear(32, 2)
        # mended: nn.init.constant_(self.hidden.bias, 0.0)
        nn.init.constant_(self.hidden.bias, -20.0)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


class MyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["x"])
        loss = nn.CrossEntropyLoss()(logits, inputs["y"])
        return (loss, logits) if return_outputs else loss


set_seed(0)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=16,
    num_train_epochs=2,
    learning_rate=3e-3,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    remove_unused_columns=False,
    disable_tqdm=True,
)
trainer = MyTrainer(model=Classifier(), args=arguments, train_dataset=Points(960))
trainer.train()
