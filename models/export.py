"""Exports programs by name: python -m models.export [NAME...] --out FOLDER [--list].

Writes NAME.pte and NAME.bpte (or `.npz` cases where a bundle cannot hold them; see models/writer.py).
What is there already and was made from the same sources and packages is left as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from importlib.metadata import distributions
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
# Sources that change no program.
APART = {
    "bundle_releases.py",
    "environment.py",
    "export.py",
    "fixtures.py",
    "older_programs.py",
    "quiet.py",
    "verify_models.py",
}


def fingerprint() -> str:
    """Changes when a source in models/ or an installed package does."""
    digest = hashlib.sha256()
    for path in sorted(path for path in SOURCES.glob("*.py") if path.name not in APART):
        digest.update(path.name.encode() + path.read_bytes())
    for line in sorted(f"{item.name}=={item.version}" for item in distributions()):
        digest.update(line.encode())
    return digest.hexdigest()


class Cache:
    """Remembers in the folder itself which names there are, what each was made from and its files."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "made-from.json"
        self.now = fingerprint()
        found = json.loads(self.path.read_text()) if self.path.is_file() else {}
        self.programs: dict[str, dict] = found.get("programs", {})
        self.names: list[str] = found.get("names", []) if found.get("from") == self.now else []

    def has(self, name: str) -> bool:
        entry = self.programs.get(name)
        return (
            entry is not None
            and entry["from"] == self.now
            and all((self.folder / file).is_file() for file in entry["files"])
        )

    def remember(self, name: str, files: list[Path]) -> None:
        self.programs[name] = {"from": self.now, "files": [file.name for file in files]}
        self.save()

    def all_names(self) -> list[str]:
        if not self.names:
            self.names = list(known())
            self.save()
        return self.names

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"from": self.now, "names": self.names, "programs": self.programs}
        self.path.write_text(json.dumps(content, indent=1, sort_keys=True))


def export_missing(names: list[str], cache: Cache) -> list[str]:
    """Exports what the folder lacks; returns the names that failed, each with its reason on stderr."""
    wanted = [name for name in names if not cache.has(name)]
    print(f"{len(names) - len(wanted)} of {len(names)} programs are up to date in {cache.folder}", flush=True)
    if not wanted:
        return []
    # The exporter takes seconds to import, so only when there is something to do.
    from models import catalogue, recipe, writer  # noqa: F401
    from models.quiet import quiet

    failed = []
    for name in wanted:
        start = time.monotonic()
        try:
            with quiet():
                files = writer.write(recipe.build(name), name, cache.folder)
        except Exception as error:  # one program's failure must not keep the others from being made
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            failed.append(name)
            continue
        cache.remember(name, files)
        sizes = ", ".join(f"{file.name} {file.stat().st_size}" for file in files)
        print(f"{name}: {sizes} ({time.monotonic() - start:.1f} s)", flush=True)
    return failed


def known() -> dict[str, str]:
    """Names and purposes, in the order of the catalogue."""
    from models.quiet import quiet

    with quiet():
        from models import catalogue, recipe  # noqa: F401

    return {name: recipe.purpose(name) for name in recipe.names()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m models.export", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the files go")
    parser.add_argument("--list", action="store_true", help="print the names and what they are for")
    arguments = parser.parse_args()
    if arguments.list:
        for name, purpose in known().items():
            print(f"{name:24} {purpose}")
        return 0
    if arguments.out is None:
        parser.error("--out FOLDER is needed")
    cache = Cache(arguments.out)
    names = cache.all_names()
    if unknown := set(arguments.names) - set(names):
        parser.error(f"no program is called {', '.join(sorted(unknown))}; see --list")
    failed = export_missing(arguments.names or names, cache)
    if failed:
        print(f"not exported: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
