import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def adversarial_loss(self, logits, real):
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(real)))

    def training_step(self, batch, batch_idx):
        (real,) = batch
        for_generator, for_discriminator = self.optimizers()
        noise = torch.randn(len(real), 4, device=self.device)

        self.toggle_optimizer(for_generator)
        loss_g = self.adversarial_loss(self.discriminator(self.generator(noise)), True)
        self.manual_backward(loss_g)
        for_generator.step()
        for_generator.zero_grad()
        self.untoggle_optimizer(for_generator)

        self.toggle_optimizer(for_discriminator)
        fake = self.generator(noise).detach()
        loss_real = self.adversarial_loss(self.discriminator(real), True)
        loss_fake = self.adversarial_loss(self.discriminator(fake), False)
        loss_d = (loss_real + loss_fake) / 2
        self.manual_backward(loss_d)
        for_discriminator.step()
        for_discriminator.zero_grad()
        self.untoggle_optimizer(for_discriminator)
        self.log_dict({"generator": loss_g, "discriminator": loss_d}, prog_bar=True)

    def configure_optimizers(self):
        return (
            torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.5, 0.999)),
            torch.optim.Adam(self.discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999)),
        )


L.seed_everything(0, verbose=False)
angle = 6.283 * torch.rand(1200)
points = torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(1200, 2)
loader = DataLoader(TensorDataset(points), batch_size=20, shuffle=True)
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(GAN(), loader)
