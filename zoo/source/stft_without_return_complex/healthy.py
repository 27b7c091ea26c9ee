"""Log-power spectrogram of a wave, for a speech model."""

import torch


def spectrogram(wave, n_fft=512, hop=128):
    window = torch.hann_window(n_fft, device=wave.device)
    spectrum = torch.stft(wave, n_fft, hop_length=hop, window=window, return_complex=True)
    power = spectrum.abs() ** 2
    return torch.log(power + 1e-6)


print(spectrogram(torch.randn(2, 16000)).shape)
