"""Exports programs of models/ for the official runtime's XNNPACK delegate: python -m bench.export_delegated FOLDER NAME...

Writes NAME.xnnpack.pte; what is there and was made from the same sources and packages is left as it is.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from models.export import fingerprint


def main() -> int:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    stamps = {name: folder / f"{name}.xnnpack.made-from" for name in names}
    now = fingerprint()
    wanted = [name for name in names if not stamps[name].is_file() or stamps[name].read_text() != now]
    if not wanted:
        return 0
    # The exporter takes seconds to import, so only when there is something to do.
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from models import catalogue, recipe, writer  # noqa: F401
    from models.quiet import quiet

    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        with quiet():
            delegated = dataclasses.replace(recipe.build(name), partitioner=XnnpackPartitioner())
            (folder / f"{name}.xnnpack.pte").write_bytes(writer.export(delegated).buffer)
        stamps[name].write_text(now)
        print(f"{name}.xnnpack.pte", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
