"""What the repository's rules say about its files: where includes may point, how files are called, what is in them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# A folder includes only folders above it in this list.
LAYERS = ("include", "base", "format", "runtime", "engine", "kernels", "optimizer", "backends", "cli")
# The engine knows no program and no operator.
ALLOWED = {"engine": {"base"}, "include": {"include"}}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
EMPTY_NAME = re.compile(r"(^|[/_.-])(utils?|helpers?|common|misc)([/_.-]|$)", re.I)
# Written in two parts, so that this file does not hold what it looks for.
MACHINE_PATH = re.compile("(?<![\\w.])/" + r"(work|root|home|tmp|Users)/[\w.]")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
LEFT_OVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")


def tracked_files() -> list[str]:
    """Names of all files in the repository, seen from its root; without git, of all files that are there."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True)
    if listing.returncode == 0 and listing.stdout:
        return [name for name in listing.stdout.split("\0") if name and (REPOSITORY / name).is_file()]
    skipped = {"build", ".git"}
    files = (file.relative_to(REPOSITORY) for file in REPOSITORY.rglob("*") if file.is_file())
    return [str(file) for file in files if file.parts[0] not in skipped]


def text_files(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        content = (REPOSITORY / name).read_bytes()
        if b"\0" not in content[:4096]:
            yield name, content.decode("utf-8", "replace")


def layer_of(path: str) -> str | None:
    parts = path.split("/")
    if parts[0] == "include":
        return "include"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return None


def included_layer(target: str) -> str:
    first = target.split("/")[0]
    return "include" if first in ("pteron", "executorch") else first


def wrong_includes(path: str, text: str) -> list[str]:
    """Includes of a file in src/ or include/ that point downwards, or to nothing the list knows."""
    layer = layer_of(path)
    if layer is None:
        return []
    if layer not in LAYERS:
        return [f"{path}: the folder {layer} is not in the list of layers"]
    findings = []
    for target in INCLUDE.findall(text):
        other = included_layer(target)
        if "/" not in target or other == layer:
            continue  # generated beside the source, or its own folder
        if other not in LAYERS:
            findings.append(f'{path}: "{target}" is of no layer; includes are written from src/')
        elif other not in ALLOWED.get(layer, set(LAYERS[: LAYERS.index(layer)])):
            findings.append(f'{path}: {layer} must not include "{target}"')
    return findings


def empty_name(path: str) -> bool:
    """True when a part of the path says nothing about what is inside."""
    return EMPTY_NAME.search(path) is not None


def machine_paths(path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]


def left_overs(path: str, text: str) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), 1)
        if LEFT_OVER.search(line)
    ]


def dead_links(path: str, text: str) -> list[str]:
    """Relative links of a Markdown page that lead nowhere."""
    folder = (REPOSITORY / path).parent
    targets = [target for target in LINK.findall(text) if "://" not in target and not target.startswith("mailto:")]
    return [f"{path}: {target}" for target in targets if not (folder / target).exists()]
