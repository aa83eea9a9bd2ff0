"""Reads a built library with binutils: names it exports and needs, its size when stripped, what it holds."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

# Parts of the C++ library that bring streams, locales and tables of their own: a hundred kilobytes each.
# In mangled names, since a demangled signature can mention them without using them.
HEAVY_PARTS = {
    "iostream": r"St(?:8ios_base|4cout|4cerr|4clog|3cin)|N?S[oid][a-zA-Z0-9]*(?:ls|rs)E|_ZNS[oi]",
    "sstream": r"1[589]basic_(?:o|i)?stringstream|15basic_stringbuf",
    "locale": r"St6locale|St9use_facet|St5ctype",
    "filesystem": r"St10filesystem",
    "regex": r"(?:St|__cxx11)\d*(?:basic_regex|regex_traits|\d+regex_error)|8__detail\d+_(?:NFA|Compiler|Scanner)",
}


def run(*command: object) -> str:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=True
    ).stdout


def exported(library: Path) -> list[str]:
    """Names that others can bind to, without versions, sorted."""
    names = set()
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the version node itself
            names.add(name.split("@")[0])
    return sorted(names)


def all_symbols(library: Path) -> list[str]:
    """Every name in the library, its own, internal and borrowed ones."""
    lines = run("nm", library).splitlines() + run("nm", "-D", library).splitlines()
    return sorted({line.split()[-1].split("@")[0] for line in lines if line.strip()})


def heavy_symbols(symbols: list[str]) -> dict[str, list[str]]:
    """Symbols of HEAVY_PARTS among `symbols`, by part."""
    found = {part: [s for s in symbols if re.search(pattern, s)] for part, pattern in HEAVY_PARTS.items()}
    return {part: names for part, names in found.items() if names}


def dynamic(library: Path) -> dict[str, list[str]]:
    """Entries of the dynamic section by tag: SONAME, NEEDED, RUNPATH, RPATH."""
    entries: dict[str, list[str]] = {}
    for tag, value in re.findall(r"\((SONAME|NEEDED|RUNPATH|RPATH)\)[^\[]*\[([^\]]*)\]", run("readelf", "-dW", library)):
        entries.setdefault(tag, []).append(value)
    return entries


def version_nodes(library: Path) -> set[str]:
    """Names of the versions the library defines, its own name excepted."""
    text = run("readelf", "-VW", library)
    match = re.search(r"Version definition section.*?(?=\n\n|\Z)", text, re.S)
    names = re.findall(r"Name: (\S+)", match.group(0)) if match else []
    return set(names) - {library.name}


def stripped(library: Path) -> bytes:
    """The library's bytes without what only a debugger needs."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / library.name
        run("strip", "--strip-unneeded", "-o", copy, library)
        return copy.read_bytes()
