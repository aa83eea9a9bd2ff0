"""A small network trained here on scikit-learn's handwritten digits; what the demonstration runs.

python -m models.digits trains it, exports it and writes tests/data/digits.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.export import Dim

from models.quiet import quiet
from models.recipe import Recipe, build, program, single
from models.writer import write

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "digits"
MOST = 512
PICTURES = 10


def data() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pictures (N, 1, 8, 8) in 0..1 and labels, to train with and held out (a fifth)."""
    digits = load_digits()
    pictures = (digits.images / 16.0).astype(np.float32)[:, None]
    split = train_test_split(
        pictures, digits.target, test_size=0.2, random_state=0, stratify=digits.target
    )
    # numpy gives the channel axis, of size one, a stride of its own, which the exporter would take for a layout.
    train, held, train_labels, held_labels = (
        torch.from_numpy(part).clone(memory_format=torch.contiguous_format) for part in split
    )
    return train, train_labels, held, held_labels


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
        nn.Softmax(dim=1),
    )


def trained() -> nn.Module:
    torch.set_num_threads(1)
    pictures, labels, _, _ = data()
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(25):
        for chosen in torch.randperm(len(pictures), generator=generator).split(64):
            optimizer.zero_grad()
            loss = nn.functional.nll_loss(torch.log(model(pictures[chosen]) + 1e-9), labels[chosen])
            loss.backward()
            optimizer.step()
    return model.eval()


@program
def digits() -> Recipe:
    """A network trained on handwritten digits (8 x 8), of dynamic batch; the cases are held-out digits."""
    _, _, held, _ = data()
    cases = [(held[:1],), (held[1:9],)]
    shapes = ({0: Dim("batch", min=1, max=MOST)},)
    return single(trained(), cases[1], cases, dynamic_shapes=shapes)


def main() -> None:
    with quiet():
        recipe = build("digits")
        FOLDER.mkdir(parents=True, exist_ok=True)
        write(recipe, "digits", FOLDER)
    _, _, held, labels = data()
    with torch.no_grad():
        probabilities = recipe.methods["forward"].module(held)
    right = (probabilities.argmax(1) == labels).sum().item()
    np.savez_compressed(FOLDER / "held_out.npz", **{"0": held.numpy()})
    np.savez_compressed(FOLDER / "held_out_expected.npz", **{"0": probabilities.numpy()})
    np.save(FOLDER / "held_out_labels.npy", labels.numpy().astype(np.uint8))
    (FOLDER / "labels.txt").write_text("".join(f"{digit}\n" for digit in range(10)))
    for digit in range(PICTURES):
        picture = held[labels == digit][0, 0].numpy()
        Image.fromarray((picture * 255).round().astype(np.uint8)).save(FOLDER / f"{digit}.png")
    size = (FOLDER / "digits.pte").stat().st_size
    accuracy = f"{right} of {len(labels)} held-out digits right in eager PyTorch ({100 * right / len(labels):.2f} %)"
    (FOLDER / "README.md").write_text(
        f"""# Handwritten digits

Made by `python -m models.digits`; do not edit. The data is scikit-learn's copy of the UCI ML hand-written
digits data set; a fifth is held out.

- `digits.pte` ({size} bytes): (batch 1..{MOST}, 1, 8, 8) float32 in 0..1, ink high -> (batch, 10) probabilities;
  `digits.bpte` holds it with two cases.
- `0.png` ... `9.png`: held-out pictures, 8 x 8 grey, the digit they are named after.
- `held_out.npz` (key "0"), `held_out_expected.npz` (eager results), `held_out_labels.npy`: {len(labels)} pictures.
- {accuracy}.
"""
    )
    print(f"digits.pte: {size} bytes, {accuracy}")


if __name__ == "__main__":
    main()
