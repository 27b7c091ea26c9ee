import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Counting(Dataset):
    """Sentences that count on from a random number."""

    def __init__(self, count):
        self.start = torch.randint(0, 20, (count, 1))

    def __len__(self):
        return len(self.start)

    def __getitem__(self, i):
        words = (self.start[i] + torch.arange(8)) % 20
        return {"input_ids": words, "labels": words.clone()}


set_seed(0)
config = GPT2Config(vocab_size=20, n_positions=8, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    gradient_accumulation_steps=2,
    num_train_epochs=2,
    learning_rate=5e-3,
    lr_scheduler_type="cosine",
    warmup_steps=10,
    bf16=True,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    logging_steps=20,
)
trainer = Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Counting(960))
trainer.train()
