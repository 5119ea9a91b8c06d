"""Tests of the generator's arithmetic and of the runner: it must see what is wrong, or its silence means nothing."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generator import meaning, model  # noqa: E402
from meanings import NotAMeaning, comparable, difference, float_bits, normalised  # noqa: E402
from run import ROOT, fault_in_meaning, fault_in_rejection, frames, unframed  # noqa: E402

ENVIRONMENT = ROOT / "build/deps/python"  # made by scripts/setup --dev


def requirements_installed():
    installed = ENVIRONMENT / "requirements.txt"
    return installed.exists() and installed.read_text() == (HERE / "requirements.txt").read_text()


def codecs_built():
    adapters = json.loads((HERE / "adapters.json").read_text())
    return all((ROOT / path).exists() for adapter in adapters.values() for path in adapter["needs"])


def golden(name):
    return json.loads((HERE / f"valid/{name}.json").read_text())


class GeneratorTest(unittest.TestCase):
    def test_the_crc_has_castagnolis_check_value(self):
        self.assertEqual(0xE3069283, model.crc32c(b"123456789"))

    def test_the_hash_has_fnv1as_check_value(self):
        self.assertEqual(0xAF63DC4C8601EC8C, model.fnv1a64(b"a"))

    def test_shuffle_puts_the_first_bytes_of_all_rows_first_and_leaves_the_rest(self):
        self.assertEqual(b"aAbBcCdDeEfFgGhHxyz", model.shuffled(b"abcdefghABCDEFGHxyz", 8))

    def test_a_difference_is_of_ticks_alone(self):
        rows = struct.pack("<4Q", 7 << 16 | 3, 1, 5 << 16 | 2, 1) + b"left"
        expected = struct.pack("<4Q", 7 << 16 | 3, 1, (-2 << 16 | 2) % 2**64, 1) + b"left"
        self.assertEqual(expected, model.with_differences(rows, 16, "<"))

    def test_a_tick_is_the_nearest_to_the_base(self):
        self.assertEqual(2**48 + 1, meaning.full_tick(2**48 - 1, 1))
        self.assertEqual(2**48 - 1, meaning.full_tick(2**48 + 1, 2**48 - 1))
        self.assertEqual(2**64 - 1, meaning.full_tick(0, 2**48 - 1))

    def test_each_byte_outside_a_sequence_is_one_replacement_character(self):
        self.assertEqual("\ufffd\ufffdA\ufffd\ufffd\ufffdü", meaning.text_of(b"\xe2\x82A\xed\xa0\x80\xc3\xbc"))

    @unittest.skipUnless(requirements_installed(), "the packages of requirements.txt are not installed: scripts/setup --dev")
    def test_the_committed_vectors_are_what_the_generator_makes(self):
        check = [ENVIRONMENT / "bin/python", HERE / "make_vectors.py", "--check"]
        done = subprocess.run(check, capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))


class MeaningsTest(unittest.TestCase):
    def test_floats_are_equal_if_their_bits_are_however_they_are_written(self):
        self.assertEqual(float_bits("f32", 0.1), float_bits("f32", 0.10000000149011612))
        self.assertEqual(float_bits("f64", 1), float_bits("f64", 1.0))

    def test_zero_and_minus_zero_differ(self):
        self.assertNotEqual(float_bits("f64", 0.0), float_bits("f64", "-0"))

    def test_nans_differ_by_their_payload(self):
        self.assertNotEqual(float_bits("f32", "nan:7fc00000"), float_bits("f32", "nan:7fc00001"))

    def test_values_of_another_json_type_are_no_meaning(self):
        for type_name, value in (("i64", 1), ("u64", "01"), ("i32", "1"), ("bool", 1), ("u32", True), ("f32", "1.5")):
            with self.subTest(type_name=type_name, value=value), self.assertRaises(NotAMeaning):
                comparable(type_name, value)

    def test_a_difference_is_told_with_its_place(self):
        wanted, got = normalised(golden("table1")), golden("table1")
        got["events"][1]["fields"][1] = 3.5
        self.assertIn("events[1].fields[1]", difference(wanted, normalised(got)))

    def test_a_missing_and_an_additional_key_are_differences(self):
        self.assertIn("host", difference({"host": ""}, {}))
        self.assertIn("extra", difference({}, {"extra": 1}))


class RunnerTest(unittest.TestCase):
    fault = {"code": "bad_crc", "offset": 392, "why": "for this test"}

    def test_an_accepted_fault_and_another_code_are_failures(self):
        self.assertIn("accepted", fault_in_rejection(self.fault, b"", {"version": 1}))
        other = {"rejected": "bad_text", "offset": 0, "message": "m"}
        self.assertIn("expected bad_crc", fault_in_rejection(self.fault, b"", other))

    def test_a_rejection_needs_an_offset_and_a_sentence(self):
        self.assertIsNone(fault_in_rejection(self.fault, b"", {"rejected": "bad_crc", "offset": 1, "message": "m"}))
        self.assertIsNotNone(fault_in_rejection(self.fault, b"", {"rejected": "bad_crc", "offset": -1, "message": "m"}))
        self.assertIsNotNone(fault_in_rejection(self.fault, b"", {"rejected": "bad_crc", "offset": 1, "message": ""}))

    def test_a_rejected_and_a_changed_valid_batch_are_failures(self):
        wanted = normalised(golden("table1"))
        self.assertIsNone(fault_in_meaning(wanted, golden("table1")))
        self.assertIn("bad_text", fault_in_meaning(wanted, {"rejected": "bad_text", "offset": 1, "message": "m"}))
        self.assertIn("pid", fault_in_meaning(wanted, {**golden("table1"), "pid": 1}))

    def test_a_cut_stream_of_frames_is_garbled(self):
        self.assertEqual([b"ab", b""], unframed(b"\2\0\0\0ab\0\0\0\0"))
        self.assertIsNone(unframed(b"\3\0\0\0ab"))

    def test_a_codec_that_answers_nonsense_fails_the_run(self):
        adapters = {"echo": {"decode": ["cat"], "encode": ["cat"], "needs": []}}
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "adapters.json"
            listed.write_text(json.dumps(adapters))
            command = [sys.executable, HERE / "run.py", "--only", "table1", "--adapters", listed]
            done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(1, done.returncode)
        self.assertRegex(done.stdout, r"(?m)^vectors: valid=1 invalid=0 pairs=2 failed=[1-9]")

    def test_a_codec_that_is_not_built_fails_the_run(self):
        adapters = {"none": {"decode": ["none"], "encode": ["none"], "needs": ["no/such/file"]}}
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "adapters.json"
            listed.write_text(json.dumps(adapters))
            command = [sys.executable, HERE / "run.py", "--only", "table1", "--adapters", listed]
            done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(1, done.returncode)
        self.assertIn("no/such/file", done.stdout)


def made():
    """The files of hostile.py that are too large to be kept: name, batches, and what is due of each batch by itself."""
    done = subprocess.run([HERE / "make_vectors.py", "--large"], capture_output=True, text=True, check=True)
    manifest = json.loads((HERE / "hostile.json").read_text())
    for path in sorted(Path(done.stdout.strip()).glob("*.llb")):
        data, batches = path.read_bytes(), []
        while data:
            length = int.from_bytes(data[56:60], "little")
            batches.append(data[:length])
            data = data[length:]
        yield path.stem, batches, manifest[path.stem]["due"]["any"]


class DecodersTest(unittest.TestCase):
    # Prints the memory of what it ran, in KiB; a process of its own, since a child starts with what its parent has.
    measured = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)")

    @unittest.skipUnless(codecs_built(), "the codecs are not built")
    def test_hostile_batches_without_measure_are_taken_or_refused_beside_honest_ones_in_bounded_memory(self):
        honest, meaning = (HERE / "valid/table1.llb").read_bytes(), normalised(golden("table1"))
        environment = {**os.environ, "JDK_JAVA_OPTIONS": "-Xms64m -Xmx512m"}
        for name, batches, due in made():
            data = frames([message for batch in batches for message in (honest, batch)] + [honest])
            for language, adapter in json.loads((HERE / "adapters.json").read_text()).items():
                with self.subTest(name=name, language=language):
                    command = [sys.executable, "-c", self.measured, *adapter["decode"], "--stream"]
                    done = subprocess.run(command, input=data, capture_output=True, cwd=ROOT, env=environment)
                    self.assertEqual(0, done.returncode, done.stderr)
                    answers = done.stdout.split(b"\n")[:-1]
                    self.assertEqual(2 * len(batches) + 1, len(answers))
                    for answer in set(answers[::2]):
                        self.assertIsNone(fault_in_meaning(meaning, json.loads(answer)))
                    refused = [json.loads(answer) for answer in answers[1::2] if answer.startswith(b'{"rejected":')]
                    outcomes = Counter(answer["rejected"] for answer in refused)
                    outcomes["accepted"] = len(batches) - len(refused)
                    self.assertEqual(due, {outcome: count for outcome, count in outcomes.items() if count})
                    self.assertTrue(all(answer["message"] for answer in refused))
                    self.assertLess(int(done.stderr.split()[-1]) << 10, 2**30)

    @unittest.skipUnless(codecs_built(), "the codecs are not built")
    def test_all_decoders_say_the_same_of_batches_with_any_number_of_faults(self):
        command = [sys.executable, HERE / "differential.py", "--batches", "2000"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"batches=2000 accepted=[1-9]\d* rejected=[1-9]\d* disagreements=0")


if __name__ == "__main__":
    unittest.main()
