"""The pteron command from outside: cli_test.py PTERON TEST_DATA. Standard library only."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

PTERON = Path(sys.argv[1]).resolve()
DATA = Path(sys.argv[2]).resolve()
PROGRAMS = DATA / "programs"
DIGITS = DATA / "digits"

OK, DIFFERENT, USAGE, FILE, MISSING, INPUT, EXECUTION, IO = range(8)
INTERRUPTED = 130


def pteron(*arguments: object, **options) -> subprocess.CompletedProcess:
    command = [str(PTERON), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def npy(dtype: str, shape: tuple[int, ...], data: bytes) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def npz(**arrays: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def refused(self, code: int, part: str, *arguments: object) -> None:
        """Ends with the code, says why on standard error in one line, prints no result."""
        result = pteron(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.endswith("\n"))

    def json(self, *arguments: object) -> dict:
        result = pteron(*arguments, "--json")
        self.assertEqual(result.returncode, OK, result.stderr)
        return json.loads(result.stdout)


class General(Command):
    def test_version(self):
        result = pteron("--version")
        self.assertEqual(result.returncode, OK)
        self.assertRegex(result.stdout, r"^pteron \d+\.\d+\.\d+\n$")

    def test_help_has_an_example(self):
        for name in ("run", "inspect", "check", "bench"):
            result = pteron(name, "--help")
            self.assertEqual(result.returncode, OK)
            self.assertIn(f"  pteron {name} ", result.stdout)

    def test_no_subcommand(self):
        self.refused(USAGE, "subcommand")

    def test_unknown_option(self):
        self.refused(USAGE, "--bogus", "run", PROGRAMS / "add.pte", "--bogus")

    def test_missing_file(self):
        for name in ("run", "inspect", "check", "bench"):
            self.refused(IO, "No such file", name, "no-such-file.pte")

    def test_file_of_another_kind(self):
        for name in ("run", "inspect", "check", "bench"):
            self.refused(FILE, "text.pte", name, self.file("text.pte", b"hello world, this is no program\n"))

    def test_truncated_program(self):
        whole = (PROGRAMS / "linear.pte").read_bytes()
        self.refused(FILE, "truncated", "inspect", self.file("cut.pte", whole[: len(whole) // 2]))

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            command = [PTERON, "inspect", PROGRAMS / "add.pte"]
            result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, IO, result.stderr)

    def test_unknown_method(self):
        for name in ("run", "inspect", "bench"):
            self.refused(USAGE, "forward, negated", name, PROGRAMS / "two_methods.pte", "--method", "backward")

    def test_thread_count_out_of_range(self):
        self.refused(USAGE, "-1", "check", PROGRAMS / "add.bpte", "--threads=-1")


class Run(Command):
    def add(self, *arguments: object) -> list[float]:
        return self.json("run", PROGRAMS / "add.pte", *arguments)["outputs"][0]["first"]

    def test_literals(self):
        self.assertEqual(self.add("--input", "[1,2,3]", "--input", "[0.5,-2,1e2]"), [1.5, 0, 103])

    def test_inputs_by_index_in_any_order(self):
        self.assertEqual(self.add("--input", "1=[1,1,1]", "--input", "0=[1,2,3]"), [2, 3, 4])

    def test_the_same_seed_gives_the_same_numbers(self):
        first = self.add("--input", "random:5", "--input", "zeros")
        self.assertEqual(first, self.add("--input", "random:5", "--input", "zeros"))
        self.assertNotEqual(first, self.add("--input", "random:6", "--input", "zeros"))

    def test_nan_is_text_in_json(self):
        self.assertEqual(self.add("--input", "[nan,1,1]", "--input", "[1,inf,-inf]"), ["nan", "inf", "-inf"])

    def test_npy(self):
        path = self.file("x.npy", npy("<f4", (3,), floats(1, 2, 3)))
        self.assertEqual(self.add("--input", f"@{path}", "--input", f"1=@{path}"), [2, 4, 6])

    def test_npz(self):
        path = self.file("x.npz", npz(**{"0": npy("<f4", (3,), floats(1, 2, 3)), "1": npy(">f4", (3,), b"\0" * 12)}))
        self.assertEqual(self.add("--inputs", path), [1, 2, 3])

    def test_safetensors(self):
        header = json.dumps(
            {
                "0": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
                "1": {"dtype": "F32", "shape": [3], "data_offsets": [12, 24]},
            }
        ).encode()
        data = struct.pack("<Q", len(header)) + header + floats(1, 2, 3) + floats(10, 20, 30)
        self.assertEqual(self.add("--inputs", self.file("x.safetensors", data)), [11, 22, 33])

    def test_bfloat16_from_npy(self):
        method = self.json("inspect", PROGRAMS / "bfloat16.pte")["methods"][0]
        arguments = []
        for number, value in enumerate(method["inputs"]):
            count = value["bytes"] // 2
            path = self.file(f"{number}.npy", npy("<V2", tuple(value["shape"]), b"\x80\x3f" * count))
            arguments += ["--input", f"@{path}"]
        output = self.json("run", PROGRAMS / "bfloat16.pte", *arguments)["outputs"][0]
        self.assertEqual(output["dtype"], "bfloat16")

    def test_scalars_and_text_from_npz(self):
        for name, expected in (("scalars", [8, 9]), ("constants_in_signature", [-2.5, -5])):
            inputs = PROGRAMS / f"{name}.forward.0.inputs.npz"
            document = self.json("run", PROGRAMS / f"{name}.pte", "--inputs", inputs)
            self.assertEqual(document["outputs"][0]["first"], expected)

    def test_scalars_on_the_command_line(self):
        document = self.json("run", PROGRAMS / "scalars.pte", "--input", "[1,2]", "--input", "-3")
        self.assertEqual(document["outputs"][1], {"index": 1, "name": "", "kind": "int", "value": -6})

    def test_a_scalar_the_program_was_not_exported_for(self):
        program = PROGRAMS / "constants_in_signature.pte"
        self.refused(INPUT, "2.5", "run", program, "--input", "[1,2]", "--input", "3.5")

    def test_json_schema(self):
        document = self.json("run", PROGRAMS / "add.pte", "--input", "zeros", "--input", "[1,2,3]", "--repeat", 3)
        self.assertEqual(document["schema"], "pteron.run/1")
        self.assertEqual(document["method"], "forward")
        self.assertEqual(set(document["time_ms"]), {"load", "prepare", "runs"})
        self.assertEqual(len(document["time_ms"]["runs"]), 3)
        output = document["outputs"][0]
        expected = {"index": 0, "name": "", "kind": "tensor", "dtype": "float32", "shape": [3], "first": [1, 2, 3],
                    "min": 1, "max": 3, "mean": 2, "nan": 0}  # fmt: skip
        self.assertEqual(output, expected)

    def test_summary_is_on_standard_output(self):
        result = pteron("run", PROGRAMS / "add.pte", "--input", "zeros", "--input", "[1,2,3]")
        self.assertEqual(result.returncode, OK)
        self.assertIn("output 0: float32 [3]\n  values: 1, 2, 3\n  min 1, max 3, mean 2\n", result.stdout)
        self.assertEqual(result.stderr, "")

    def test_output_npz(self):
        path = self.folder / "out.npz"
        arguments = ["--input", "zeros", "--input", "[1,2,3]", "--output", path]
        result = pteron("run", PROGRAMS / "add.pte", *arguments)
        self.assertEqual((result.returncode, result.stdout), (OK, ""))
        self.assertIn("out.npz", result.stderr)
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(archive.namelist(), ["0.npy"])
            data = archive.read("0.npy")
        self.assertIn(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", data)
        self.assertTrue(data.endswith(floats(1, 2, 3)))

    def test_output_safetensors_can_be_an_input(self):
        path = self.folder / "out.safetensors"
        result = pteron("run", PROGRAMS / "many_outputs.pte", "--input", "[1,2,3]", "--output", path)
        self.assertEqual(result.returncode, OK, result.stderr)
        size = struct.unpack("<Q", path.read_bytes()[:8])[0]
        header = json.loads(path.read_bytes()[8 : 8 + size])
        self.assertEqual(header["0"]["dtype"], "F32")
        self.assertEqual(sorted(header), ["0", "1", "2", "3"])

    def test_outputs_equal_eager(self):
        for name in ("scalars", "constants_in_signature"):
            path = self.folder / f"{name}.npz"
            inputs = PROGRAMS / f"{name}.forward.0.inputs.npz"
            self.assertEqual(
                pteron("run", PROGRAMS / f"{name}.pte", "--inputs", inputs, "--output", path).returncode, OK
            )
            expected = zipfile.ZipFile(PROGRAMS / f"{name}.forward.0.expected.npz")
            found = zipfile.ZipFile(path)
            self.assertEqual(found.namelist(), expected.namelist())
            for member in found.namelist():
                self.assertEqual(found.read(member)[128:], expected.read(member)[128:], member)

    def test_output_of_unknown_kind(self):
        self.refused(USAGE, ".npz or .safetensors", "run", PROGRAMS / "add.pte", "--output", "x.txt")

    def test_output_folder_missing(self):
        program = PROGRAMS / "add.pte"
        arguments = ["--input", "zeros", "--input", "zeros", "--output", self.folder / "no" / "x.npz"]
        self.refused(IO, "cannot create", "run", program, *arguments)

    def test_number_of_the_largest_is_negative(self):
        self.refused(USAGE, "--top", "run", PROGRAMS / "add.pte", "--input=zeros", "--input=zeros", "--top=-1")

    def test_refused_inputs(self):
        program = PROGRAMS / "add.pte"
        for code, part, *arguments in (
            (INPUT, "no value was given for input 0, 1",),
            (INPUT, "float32 [2]", "--input", "[1,2]", "--input", "zeros"),
            (INPUT, "is no value", "--input", "hello"),
            (INPUT, "does not fill", "--input", "3"),
            (INPUT, "different lengths", "--input", "[[1],[2,3]]"),
            (INPUT, "must end in", "--input", "@x.txt"),
            (INPUT, "seed", "--input", "random:x"),
            (INPUT, ".npz or a .safetensors", "--inputs", "x.json"),
            (IO, "No such file", "--input", "@no-such-file.npy"),
            (USAGE, "no input '2'", "--input", "2=zeros"),
            (USAGE, "no input 'y'", "--input", "y=zeros"),
            (USAGE, "given twice", "--input", "zeros", "--input", "0=zeros"),
            (USAGE, "3 times", "--input", "zeros", "--input", "zeros", "--input", "zeros"),
        ):
            with self.subTest(arguments=arguments):
                self.refused(code, part, "run", program, *arguments)

    def test_input_of_another_dtype(self):
        path = self.file("x.npy", npy("<f8", (3,), bytes(24)))
        self.refused(INPUT, "float64", "run", PROGRAMS / "add.pte", "--input", f"@{path}", "--input", "zeros")

    def test_hostile_files(self):
        wrap = (2**32, 2**32)
        nested = struct.pack("<Q", 100_000) + b"[" * 100_000
        huge = struct.pack("<Q", 2**63) + b"{}"
        for name, data in (
            ("wrap.npz", npz(**{"0": npy("<f4", wrap, b"")})),
            ("short.npz", npz(**{"0": npy("<f4", (3,), b"123")})),
            ("object.npz", npz(**{"0": npy("|O", (1,), bytes(8))})),
            ("cut.npz", npz(**{"0": npy("<f4", (3,), floats(1, 2, 3))})[:-30]),
            ("empty.npz", b""),
            ("nested.safetensors", nested),
            ("huge.safetensors", huge),
            ("empty.safetensors", b""),
        ):
            with self.subTest(name=name):
                self.refused(INPUT, name, "run", PROGRAMS / "add.pte", "--inputs", self.file(name, data))

    def test_external_weights(self):
        program = PROGRAMS / "external_weights.pte"
        self.refused(FILE, "'weight'", "run", program, "--input", "random:1")
        document = self.json("run", program, "--data", PROGRAMS / "external_weights.ptd", "--input", "random:1")
        self.assertEqual(document["outputs"][0]["kind"], "tensor")

    def test_missing_backend(self):
        program = PROGRAMS / "xnnpack_linear.pte"
        self.refused(MISSING, "libpteron_backend_xnnpack.so", "run", program, "--input", "random:1")

    def test_backend_options_name_a_delegate(self):
        program = PROGRAMS / "xnnpack_linear.pte"
        self.refused(USAGE, "XnnpackBackend", "run", program, "--backend-option", "openvino.num_threads=2")
        self.refused(USAGE, "NAME.KEY=VALUE", "run", program, "--backend-option", "xnnpack")
        self.refused(MISSING, "xnnpack", "run", program, "--backend-option", "xnnpack.threads=2")

    def test_digits(self):
        for digit in range(10):
            document = self.json("run", DIGITS / "digits.pte", "--input", f"@{DIGITS / f'{digit}.png'}",
                                 "--labels", DIGITS / "labels.txt", "--top", 1)  # fmt: skip
            self.assertEqual(document["outputs"][0]["top"][0]["index"], digit)

    def test_labels_are_printed(self):
        result = pteron("run", DIGITS / "digits.pte", "--input", f"@{DIGITS / '7.png'}",
                        "--labels", DIGITS / "labels.txt")  # fmt: skip
        label = (DIGITS / "labels.txt").read_text().split("\n")[7]
        self.assertEqual(result.stdout.split("largest:\n")[1].split("\n")[0].split()[-1], label.split()[-1])

    def test_damaged_picture(self):
        whole = (DIGITS / "7.png").read_bytes()
        path = self.file("cut.png", whole[: len(whole) // 2])
        self.refused(INPUT, "cut.png", "run", DIGITS / "digits.pte", "--input", f"@{path}")


class Inspect(Command):
    def test_schema(self):
        document = self.json("inspect", PROGRAMS / "linear.pte")
        self.assertEqual(document["schema"], "pteron.inspect/1")
        self.assertEqual(set(document), {"schema", "model", "methods", "segments", "external_keys", "named_data"})
        method = document["methods"][0]
        self.assertTrue(method["runnable"])
        self.assertEqual(method["missing"], [])
        self.assertNotIn("instructions", method)
        self.assertEqual(method["inputs"][0]["dtype"], "float32")
        self.assertEqual(sum(op["calls"] for op in method["operators"]), method["instruction_count"])

    def test_instructions_with_source_lines(self):
        method = self.json("inspect", PROGRAMS / "stack_trace.pte", "--method", "forward")["methods"][0]
        self.assertEqual(len(method["instructions"]), method["instruction_count"])
        self.assertIn("traced_source.py", method["instructions"][0]["source"])

    def test_missing_backend_is_no_failure(self):
        result = pteron("inspect", PROGRAMS / "xnnpack_linear.pte")
        self.assertEqual(result.returncode, OK)
        self.assertIn("runs here: no", result.stdout)
        self.assertIn("libpteron_backend_xnnpack.so", result.stdout)
        method = self.json("inspect", PROGRAMS / "xnnpack_linear.pte")["methods"][0]
        self.assertEqual([(entry["what"], entry["name"]) for entry in method["missing"]],
                         [("backend", "XnnpackBackend")])  # fmt: skip

    def test_missing_data(self):
        document = self.json("inspect", PROGRAMS / "external_weights.pte")
        self.assertFalse(document["methods"][0]["runnable"])
        self.assertEqual({entry["found"] for entry in document["external_keys"]}, {False})
        data = PROGRAMS / "external_weights.ptd"
        document = self.json("inspect", PROGRAMS / "external_weights.pte", "--data", data)
        self.assertTrue(document["methods"][0]["runnable"])

    def test_every_program(self):
        for path in sorted(PROGRAMS.glob("*.pte")):
            with self.subTest(path=path.name):
                self.json("inspect", path)
                self.assertEqual(pteron("inspect", path).returncode, OK)


class Check(Command):
    def test_schema(self):
        document = self.json("check", PROGRAMS / "two_methods.bpte")
        self.assertEqual(document["schema"], "pteron.check/1")
        self.assertTrue(document["passed"])
        self.assertEqual([method["name"] for method in document["methods"]], ["forward", "negated"])
        output = document["methods"][0]["outputs"][0]
        self.assertEqual(set(output), {"index", "passed", "max_abs", "max_rel", "atol", "rtol", "elements", "outside"})

    def test_state_is_carried_from_case_to_case(self):
        document = self.json("check", PROGRAMS / "mutable_counter.bpte")
        self.assertGreater(document["methods"][0]["cases"], 1)

    def test_every_plain_bundle(self):
        for path in sorted(PROGRAMS.glob("*.bpte")):
            methods = self.json("inspect", path, *self.data(path))["methods"]
            if not all(method["runnable"] for method in methods):
                continue
            with self.subTest(path=path.name):
                result = pteron("check", path, *self.data(path))
                self.assertEqual(result.returncode, OK, result.stdout + result.stderr)
                self.assertTrue(result.stdout.endswith("passed\n"))

    @staticmethod
    def data(path: Path) -> list[object]:
        data = path.with_suffix(".ptd")
        return ["--data", data] if data.exists() else []

    def test_out_of_tolerance(self):
        whole = (PROGRAMS / "add.bpte").read_bytes()
        expected = floats(11, 22, 33)
        self.assertEqual(whole.count(expected), 1)
        path = self.file("changed.bpte", whole.replace(expected, floats(11, 22, 34)))
        result = pteron("check", path)
        self.assertEqual(result.returncode, DIFFERENT, result.stderr)
        self.assertIn("1 of 3 elements out of tolerance; worst at 2: expected 34, found 33", result.stdout)
        self.assertTrue(result.stdout.endswith("failed\n"))
        self.assertEqual(result.stderr, "pteron: outputs differ from the expected ones\n")

    def test_tolerance_can_be_widened(self):
        whole = (PROGRAMS / "add.bpte").read_bytes()
        path = self.file("changed.bpte", whole.replace(floats(11, 22, 33), floats(11, 22, 34)))
        document = self.json("check", path, "--atol", "1")
        self.assertEqual(document["methods"][0]["outputs"][0]["max_abs"], 1)

    def test_a_failed_comparison_prints_its_json(self):
        whole = (PROGRAMS / "add.bpte").read_bytes()
        path = self.file("changed.bpte", whole.replace(floats(11, 22, 33), floats(11, 22, 34)))
        result = pteron("check", path, "--json")
        self.assertEqual(result.returncode, DIFFERENT)
        document = json.loads(result.stdout)
        self.assertFalse(document["passed"])
        self.assertEqual(document["methods"][0]["outputs"][0]["outside"], 1)

    def test_no_bundle(self):
        self.refused(FILE, "test cases", "check", PROGRAMS / "add.pte")

    def test_missing_backend(self):
        self.refused(MISSING, "XnnpackBackend", "check", PROGRAMS / "xnnpack_linear.bpte")

    def test_negative_tolerance(self):
        self.refused(USAGE, "--atol", "check", PROGRAMS / "add.bpte", "--atol=-1")


    def test_tolerance_that_is_no_number(self):
        self.refused(USAGE, "--rtol", "check", PROGRAMS / "add.bpte", "--rtol=nan")


class Bench(Command):
    def test_pipe(self):
        os.mkfifo(self.folder / "pipe")
        self.refused(IO, "regular file", "bench", self.folder / "pipe")

    def test_seconds_that_are_no_number(self):
        self.refused(USAGE, "--seconds", "bench", PROGRAMS / "add.pte", "--seconds=nan")

    def test_negative_warm_up(self):
        self.refused(USAGE, "--warmup", "bench", PROGRAMS / "add.pte", "--warmup=-1")

    def test_a_trace_may_go_to_a_device(self):
        link = self.folder / "trace"
        link.symlink_to("/dev/full")
        self.refused(IO, "No space left", "bench", PROGRAMS / "add.pte", "--runs", 1, "--trace-file", link)
        self.assertTrue(link.is_symlink())

    def test_schema(self):
        document = self.json("bench", PROGRAMS / "conv.bpte", "--runs", 5, "--warmup", 1, "--profile")
        self.assertEqual(document["schema"], "pteron.bench/1")
        self.assertEqual(document["inputs"], "the bundle's first case")
        self.assertEqual(set(document["time_ms"]), {"load", "prepare", "first", "steady"})
        steady = document["time_ms"]["steady"]
        self.assertEqual(steady["runs"], 5)
        self.assertTrue(steady["min"] <= steady["p50"] <= steady["p90"] <= steady["p99"] <= steady["max"])
        self.assertEqual(set(document["memory_bytes"]), {"arena", "shared", "peak_resident"})
        self.assertGreater(document["memory_bytes"]["peak_resident"], 0)
        self.assertTrue(any("convolution" in entry["name"] for entry in document["operators"]))

    def test_made_up_inputs_are_named(self):
        document = self.json("bench", PROGRAMS / "conv.pte", "--runs", 1)
        self.assertEqual(document["inputs"], "random floats in [0, 1)")
        self.assertNotIn("operators", document)

    def test_text(self):
        result = pteron("bench", PROGRAMS / "linear.bpte", "--runs", 2, "--profile", "--threads", 1)
        self.assertEqual(result.returncode, OK, result.stderr)
        for part in ("1 threads", "inputs:  the bundle's first case", "steady   p50", "peak resident", "us per call"):
            self.assertIn(part, result.stdout)
        self.assertEqual(result.stderr, "")

    def test_chrome_trace(self):
        path = self.folder / "trace.json"
        result = pteron("bench", PROGRAMS / "conv.bpte", "--runs", 1, "--trace-file", path)
        self.assertEqual(result.returncode, OK, result.stderr)
        events = json.loads(path.read_text())["traceEvents"]
        self.assertTrue(all(event["ph"] == "X" and event["dur"] >= 0 for event in events))
        self.assertIn("float32", events[0]["args"]["arguments"])

    def test_missing_backend(self):
        self.refused(MISSING, "XnnpackBackend", "bench", PROGRAMS / "xnnpack_linear.bpte")

    def test_interrupted(self):
        command = [PTERON, "bench", PROGRAMS / "conv.bpte", "--seconds", "600"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            output, messages = process.communicate(timeout=60)
        finally:
            process.kill()
        self.assertEqual(process.returncode, INTERRUPTED, messages)
        self.assertEqual(output, "")

    def test_progress_only_on_a_terminal(self):
        arguments = ["bench", PROGRAMS / "conv.bpte", "--seconds", "2"]
        self.assertEqual(pteron(*arguments).stderr, "")
        parent, child = pty.openpty()
        try:
            subprocess.run([PTERON, *arguments], stdout=subprocess.DEVNULL, stderr=child, timeout=300)
            os.close(child)
            child = -1
            self.assertIn(b"runs: ", os.read(parent, 4096))
        finally:
            os.close(parent)
            if child >= 0:
                os.close(child)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
