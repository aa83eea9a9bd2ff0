"""Importing this module makes every recipe known."""

from models import control_flow, delegated, digits, faces, programs, sentence, sequence, speech, vision

__all__ = [
    "control_flow",
    "delegated",
    "digits",
    "faces",
    "programs",
    "sentence",
    "sequence",
    "speech",
    "vision",
]
