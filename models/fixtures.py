"""Writes the small programs that are kept in tests/data/programs: python -m models.fixtures [NAME...]."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from models import control_flow, delegated, programs, recipe
from models.quiet import quiet
from models.writer import write

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "programs"
SOURCES = {"Plain": programs, "Control flow": control_flow, "Delegated": delegated}


def written_by(name: str) -> list[Path]:
    return sorted(path for path in FOLDER.iterdir() if path.name.split(".")[0] == name)


def readme() -> str:
    lines = [
        "# Small programs of the official exporter",
        "",
        f"Made by `python -m models.fixtures` with executorch {version('executorch')} and torch"
        f" {version('torch')}; do not edit. `NAME.bpte` holds `NAME.pte` with inputs and eager results.",
        "Where a bundle cannot hold a case, `NAME.METHOD.K.inputs.npz` and `NAME.METHOD.K.expected.npz`",
        'hold its K-th one, keys "0", "1", ... A method\'s cases run in order on one instance.',
    ]
    for title, module in SOURCES.items():
        lines += ["", f"## {title}", "", "| name | what it is for | bytes of the .pte |", "|---|---|---|"]
        for name in recipe.names():
            if recipe.module_of(name) == module.__name__:
                size = (FOLDER / f"{name}.pte").stat().st_size
                lines.append(f"| {name} | {recipe.purpose(name)} | {size} |")
    return "\n".join(lines) + "\n"


def main(chosen: list[str]) -> None:
    modules = {module.__name__ for module in SOURCES.values()}
    names = [name for name in recipe.names() if recipe.module_of(name) in modules]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in chosen or names:
        with tempfile.TemporaryDirectory() as folder, quiet():
            made = write(recipe.build(name), name, Path(folder))
            for old in written_by(name):
                old.unlink()
            for path in made:
                (FOLDER / path.name).write_bytes(path.read_bytes())
        print(name, ", ".join(f"{path.name} {path.stat().st_size}" for path in written_by(name)))
    (FOLDER / "README.md").write_text(readme())


if __name__ == "__main__":
    main(sys.argv[1:])
