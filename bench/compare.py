#!/usr/bin/env python3
"""Measures Pteron against the official runtime on the same files: bench/compare.py [MODEL...]

Three ways of running each model, in turn, in one interleaved run, each in a process of its own bound to the same cores:
Pteron on the undelegated program, the official runtime on the same file, and the official runtime on the program
exported for its XNNPACK delegate. Printed are medians and ratios of load time, first run, steady run and peak memory,
and the sizes of the libraries. Needs the exporter's environment (models/make_environment) and build/release.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "build"
VENV = BUILD / "exporter-venv"
FOLDER = BUILD / "bench"
MODELS = BUILD / "models"
DEFAULT = (
    "mobilenet_v3_small", "mobilenet_v2", "efficientnet_b0", "resnet18", "bert_like", "lstm", "decoder",
)  # fmt: skip
WAYS = ("pteron", "official", "official+xnnpack")
FIGURES = ("load_ms", "first_ms", "steady_ms", "peak_kib")


def run(*command: object, **options) -> None:
    words = [str(word) for word in command]
    print("$", " ".join(words).replace(f"{REPOSITORY}/", ""), file=sys.stderr, flush=True)
    subprocess.run(words, cwd=REPOSITORY, check=True, stdout=sys.stderr, **options)


def site_packages() -> Path:
    return next((VENV / "lib").glob("python3.*/site-packages"))


def prepare(models: list[str]) -> Path:
    """Programs, libraries and runners; returns the folder of the runners."""
    python = VENV / "bin" / "python"
    if not python.exists():
        run(sys.executable, REPOSITORY / "models" / "make_environment", VENV)
    run(python, "-m", "models.export", *models, "--out", MODELS)
    run(python, "-m", "bench.export_delegated", FOLDER, *models)
    run("cmake", "--preset", "release")
    run("cmake", "--build", "--preset", "release", "--target", "pteron", "pteron_kernels", "pteron_cli")
    prefix = FOLDER / "pteron"
    shutil.rmtree(prefix, ignore_errors=True)
    run("cmake", "--install", BUILD / "release", "--prefix", prefix, "--component", "pteron")
    runners = FOLDER / "runners"
    packages = f"-DCMAKE_PREFIX_PATH={prefix};{site_packages() / 'executorch'}"
    run("cmake", "-S", "bench/runners", "-B", runners, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", packages)
    run("cmake", "--build", runners)
    return runners


def measure(runner: Path, model: Path, seconds: float, cores: set[int]) -> dict:
    result = subprocess.run(
        [runner, model, str(seconds)], capture_output=True, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )  # fmt: skip
    if result.returncode:
        raise RuntimeError(f"{runner.name} {model.name}: status {result.returncode}\n{result.stderr[-2000:]}")
    # The official runtime writes its log to the same stream, after the figures without a line break between.
    return json.JSONDecoder().raw_decode(result.stdout[result.stdout.index('{"load_ms"') :])[0]


def measure_model(name: str, runners: Path, rounds: int, seconds: float, cores: set[int]) -> dict[str, list[dict]]:
    plain, delegated = MODELS / f"{name}.pte", FOLDER / f"{name}.xnnpack.pte"
    commands = {
        "pteron": (runners / "pteron_runner", plain),
        "official": (runners / "official_runner", plain),
        "official+xnnpack": (runners / "official_runner", delegated),
    }
    taken: dict[str, list[dict]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            taken[way].append(measure(*commands[way], seconds, cores))
    return taken


def summarise(runs: list[dict]) -> dict[str, float]:
    steady = [time for run_ in runs for time in run_["steady_ms"]]
    return {
        "load_ms": statistics.median(run_["load_ms"] for run_ in runs),
        "first_ms": statistics.median(run_["first_ms"] for run_ in runs),
        "steady_ms": statistics.median(steady),
        "peak_kib": statistics.median(run_["peak_kib"] for run_ in runs),
        "output_sum": runs[0]["output_sum"],
    }


def library_sizes() -> dict[str, int]:
    """Bytes of each library, stripped."""
    official = site_packages() / "executorch" / "lib"
    own = sorted((FOLDER / "pteron").rglob("libpteron*.so"))
    others = [official / f"libexecutorch{part}.so" for part in ("", "_kernels_optimized", "_threadpool", "_backend_xnnpack")]
    sizes = {}
    for library in own + others:
        copy = FOLDER / f"stripped-{library.name}"
        subprocess.run(["strip", "--strip-unneeded", "-o", copy, library], check=True)
        sizes[library.name] = copy.stat().st_size
        copy.unlink()
    return sizes


def packages(*names: str) -> list[str]:
    """"NAME VERSION" of packages in the exporter's environment."""
    found = [next(site_packages().glob(f"{name}-*.dist-info")) for name in names]
    return [folder.name.removesuffix(".dist-info").replace("-", " ") for folder in found]


def cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Markdown: absolute figures of Pteron, and its ratio to the two others (below 1: Pteron needs less)."""
    titles = {"load_ms": "load, ms", "first_ms": "first, ms", "steady_ms": "steady, ms", "peak_kib": "peak, MiB"}
    head = ["model"]
    for figure in FIGURES:
        head += [titles[figure], "/ official", "/ with XNNPACK"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for name, ways in results.items():
        cells = [name]
        for figure in FIGURES:
            own = ways["pteron"][figure]
            shown = own / 1024 if figure == "peak_kib" else own
            cells.append(f"{shown:.3g}" if shown < 100 else f"{shown:.0f}")
            cells += [f"{own / ways[other][figure]:.3g}" for other in WAYS[1:]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=DEFAULT, help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (3)")
    parser.add_argument("--seconds", type=float, default=3, help="steady runs for about this long in each round (3)")
    parser.add_argument("--cores", type=int, default=1, help="bind every process to this many cores (1)")
    parser.add_argument("--json", type=Path, help="write all figures there")
    arguments = parser.parse_args()
    models = list(arguments.models)
    runners = prepare(models)
    cores = set(sorted(os.sched_getaffinity(0))[: arguments.cores])
    results = {}
    for name in models:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        runs = measure_model(name, runners, arguments.rounds, arguments.seconds, cores)
        results[name] = {way: summarise(taken) for way, taken in runs.items()}
    sizes = library_sizes()
    if arguments.json:
        arguments.json.write_text(json.dumps({"models": results, "library_bytes": sizes}, indent=1))
    print(f"CPU: {cpu()}, {arguments.cores} core(s) used, {arguments.rounds} interleaved rounds of {arguments.seconds:g} s")
    print(f"Compared with: {', '.join(packages('executorch', 'torch'))}\n")
    print(table(results))
    print("\n| library, stripped | bytes |\n| --- | --- |")
    print("\n".join(f"| {library} | {size:,} |" for library, size in sizes.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
