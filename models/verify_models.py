"""Runs exported models through the `pteron` command and checks what they are supposed to tell.

python -m models.verify_models PTERON --models FOLDER [NAME...]: FOLDER as written by models.export. Every
claim runs `PTERON run MODEL --inputs IN.npz --output OUT.npz`. Exit status 1 when a claim does not hold.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models import faces, sentence, speech
from models.digits import data

Outputs = list[np.ndarray]
Runner = Callable[[str, Sequence[np.ndarray]], Outputs]
CLAIMS: dict[str, Callable[[Runner], str]] = {}


def claim(check: Callable[[Runner], str]) -> Callable[[Runner], str]:
    """Decorator: a function named after its model, which returns what it found or fails an expectation."""
    CLAIMS[check.__name__] = check
    return check


class NotSo(Exception):
    """A claim that does not hold, with what was found."""


def expect(holds: bool, found: str) -> None:
    if not holds:
        raise NotSo(found)


@dataclass(frozen=True)
class Command:
    """The `pteron` command, run on models of one folder."""

    executable: str
    folder: Path

    def __call__(self, model: str, inputs: Sequence[np.ndarray]) -> Outputs:
        with tempfile.TemporaryDirectory() as folder:
            given, taken = Path(folder) / "in.npz", Path(folder) / "out.npz"
            np.savez(given, **{str(i): value for i, value in enumerate(inputs)})
            command = [self.executable, "run", str(self.folder / f"{model}.pte")]
            run = subprocess.run(
                [*command, "--inputs", str(given), "--output", str(taken)], capture_output=True, text=True
            )
            expect(run.returncode == 0, f"{' '.join(command)} ended with {run.returncode}: {run.stderr.strip()}")
            with np.load(taken) as arrays:
                return [arrays[str(i)] for i in range(len(arrays.files))]


@claim
def digits(run: Runner) -> str:
    """Over 97 % of the held-out digits."""
    _, _, held, labels = data()
    (probabilities,) = run("digits", [held.numpy()])
    right = int((probabilities.argmax(axis=1) == labels.numpy()).sum())
    found = f"{right} of {len(labels)} held-out digits right ({100 * right / len(labels):.2f} %)"
    expect(right > 0.97 * len(labels), found)
    return found


@claim
def crepe_tiny(run: Runner) -> str:
    """The pitch of every tone within 1 %."""
    (bins,) = run("crepe_tiny", [speech.tone_frames().numpy()])
    pitches = speech.pitch_of(bins)
    found = ", ".join(f"{tone} Hz heard as {p:.1f}" for tone, p in zip(speech.TONES, pitches, strict=True))
    expect(bool(np.all(np.abs(pitches / np.array(speech.TONES) - 1) < 0.01)), found)
    return found


@claim
def silero_vad(run: Runner) -> str:
    """Speech is speech, noise is not."""
    state = np.zeros((2, 1, 128), np.float32)
    spoken, _ = run("silero_vad", [speech.spoken_clip().numpy(), state])
    noise, _ = run("silero_vad", [speech.noise_clip().numpy(), state])
    found = f"probability of speech: {spoken.mean():.3f} while spoken, at most {noise.max():.3f} in noise"
    expect(spoken.mean() > 0.5 > noise.max(), found)
    return found


@claim
def pnet(run: Runner) -> str:
    """The best cell of P-Net lies on the astronaut's face."""
    _, probability = run("pnet", [faces.astronaut(None, faces.PNET_SIZE).numpy()])
    face = probability[0, 1]
    row, column = np.unravel_index(face.argmax(), face.shape)
    # A cell stands for 12 pixels from twice its place on, in a picture of PNET_SIZE for 512 pixels.
    scale = 512 / faces.PNET_SIZE
    x, y = (float(2 * column + 6) * scale, float(2 * row + 6) * scale)
    found = f"face at ({x:.0f}, {y:.0f}) with probability {face.max():.3f}"
    left, top, right, bottom = faces.FACE
    expect(face.max() > 0.9 and left < x < right and top < y < bottom, found)
    return found


@claim
def onet(run: Runner) -> str:
    """The face is a face with its landmarks in order; the other piece is none."""
    pieces = [faces.astronaut(box, 48) for box in (faces.FACE, faces.NO_FACE)]
    _, landmarks, probability = run("onet", [np.concatenate([piece.numpy() for piece in pieces])])
    xs, ys = landmarks[0, :5], landmarks[0, 5:]
    found = f"probability {probability[0, 1]:.4f} on the face, {probability[1, 1]:.4f} beside it; x {xs}, y {ys}"
    left_eye, right_eye, nose, mouth_left, mouth_right = range(5)
    expect(probability[0, 1] > 0.9 > 0.5 > probability[1, 1], found)
    expect(bool(np.all((landmarks[0] > 0) & (landmarks[0] < 1))), found)
    expect(xs[left_eye] < xs[nose] < xs[right_eye] and xs[mouth_left] < xs[mouth_right], found)
    expect(ys[left_eye] < ys[nose] < ys[mouth_left] and ys[right_eye] < ys[nose] < ys[mouth_right], found)
    return found


@claim
def minilm(run: Runner) -> str:
    """The paraphrase is nearer than the sentence about something else."""
    (embeddings,) = run("minilm", [value.numpy() for value in sentence.tokens()])
    similarity = embeddings @ embeddings.T
    found = f"similarity {similarity[0, 1]:.3f} to the paraphrase, {similarity[0, 2]:.3f} to the other"
    expect(similarity[0, 1] > similarity[0, 2] + 0.3 and similarity[0, 1] > similarity[1, 2] + 0.3, found)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m models.verify_models", description=__doc__.splitlines()[0])
    parser.add_argument("pteron", help="the pteron command")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(CLAIMS)}")
    parser.add_argument("--models", type=Path, required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(CLAIMS):
        parser.error(f"no claim is called {', '.join(sorted(unknown))}; there are {', '.join(CLAIMS)}")
    run, failures = Command(arguments.pteron, arguments.models), 0
    names = arguments.names or list(CLAIMS)
    for name in names:
        try:
            print(f"{name}: {CLAIMS[name](run)}", flush=True)
        except NotSo as found:
            failures += 1
            print(f"{name}: NOT SO: {found}", flush=True)
    print(f"{len(names) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
