"""The ahead-of-time half of the delegate `PteronNull`.

The delegate copies its i-th input to its i-th output. Its payload is text, one `key=value` a line, and can
order misbehaviour that tests of the runtime need:

| line                   | what the delegate does                                                    |
|------------------------|---------------------------------------------------------------------------|
| `fail_init=MESSAGE`    | fails when it is initialised, saying MESSAGE                              |
| `fail_execute=MESSAGE` | fails when it is executed, saying MESSAGE                                 |
| `resize=2,3`           | resizes every output to that shape before writing; new elements are zero  |
| `wait_ms=N`            | waits N milliseconds in every execution                                   |
| `free_early=1`         | gives its payload back to the runtime at the end of initialisation        |

An empty payload only copies. The compile specs of the program are the same pairs again.
"""

from __future__ import annotations

import torch
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from torch.export import ExportedProgram

KEYS = ("fail_init", "fail_execute", "resize", "wait_ms", "free_early")


class PteronNull(BackendDetails):
    """The class name is the delegate's id in the file."""

    @classmethod
    def preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        del edge_program
        lines = [f"{spec.key}={spec.value.decode()}\n" for spec in compile_specs]
        return PreprocessResult(processed_bytes="".join(lines).encode())


def is_clone(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and "clone" in str(node.target)


class NullPartitioner(Partitioner):
    """Gives every clone to the delegate, each as a part of its own; orders become the payload."""

    def __init__(self, **orders: str):
        super().__init__()
        unknown = set(orders) - set(KEYS)
        if unknown:
            raise ValueError(f"the null delegate knows no order {sorted(unknown)}, only {KEYS}")
        self.delegation_spec = DelegationSpec(
            PteronNull.__name__,
            [CompileSpec(key, value.encode()) for key, value in orders.items()],
        )

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        tags = {}
        for node in exported_program.graph.nodes:
            if is_clone(node):
                tag = f"null{len(tags)}"
                node.meta["delegation_tag"] = tag
                tags[tag] = self.delegation_spec
        tag_constant_data(exported_program)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)
