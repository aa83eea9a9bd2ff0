"""Models that read a sequence step by step: an LSTM and a decoder with a cache; random weights."""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.recipe import Recipe, program, single


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(256, 512, batch_first=True)
        self.head = nn.Linear(512, 64)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y, (h, c) = self.lstm(x)
        return self.head(y), h, c


@program
def lstm() -> Recipe:
    """One LSTM layer, 256 -> 512, 64 steps, with a linear head; random weights."""
    return single(Lstm(), (torch.randn(1, 64, 256),))


VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT = 256, 64, 4, 2, 32
DEPTH = WIDTH // HEADS


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotary position embedding over the two halves of the last dimension."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH, eps=1e-5), nn.RMSNorm(WIDTH, eps=1e-5)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = (nn.Linear(WIDTH, 4 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.register_buffer("keys", torch.zeros(1, HEADS, CONTEXT, DEPTH))
        self.register_buffer("values", torch.zeros(1, HEADS, CONTEXT, DEPTH))

    def forward(self, x: Tensor, position: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (HEADS, DEPTH)).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        self.keys.index_copy_(2, position, rotate(k, *turn))
        self.values.index_copy_(2, position, v)
        seen = torch.arange(CONTEXT)[None, None, None, :] <= position
        attended = F.scaled_dot_product_attention(
            rotate(q, *turn), self.keys, self.values, attn_mask=seen
        )
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """One token (1, 1) and its position (1,), both int64 -> logits of the next token (1, 256)."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH, eps=1e-5)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        angles = torch.outer(torch.arange(CONTEXT), 10000.0 ** -(torch.arange(DEPTH // 2) / (DEPTH // 2)))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, token: Tensor, position: Tensor) -> Tensor:
        x = self.tokens(token)
        turn = (self.cosine[position], self.sine[position])
        for layer in self.layers:
            x = layer(x, position, turn)
        return self.head(self.norm(x[:, -1]))


@program
def decoder() -> Recipe:
    """A decoder with a cache in mutable buffers: eight steps of greedy decoding as cases; random weights."""
    model = Decoder().eval().requires_grad_(False)
    running, token, cases = copy.deepcopy(model), torch.tensor([[7]]), []
    with torch.no_grad():
        for step in range(8):
            cases.append((token, torch.tensor([step])))
            token = running(*cases[-1]).argmax(dim=-1, keepdim=True)
    return single(model, cases[0], cases)
