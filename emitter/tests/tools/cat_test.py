"""lifeline-cat: what it prints of batches, and what it says about those that are not there."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from batches import BIN, EPOCH_NS, VECTORS, batch, encode, event_type, run_of

CAT = BIN / "lifeline-cat"
SANITIZED = os.environ.get("LIFELINE_SANITIZE", "")


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.lines = done.stdout.decode().split("\n")[:-1]  # strings may hold other ends of lines
        self.said = done.stderr.decode()

    def events(self):
        return [json.loads(line) for line in self.lines]

    def values(self):
        return [event["value"] for event in self.events()]

    def report(self):
        return json.loads(self.said.splitlines()[-1])


class LifelineCat(unittest.TestCase):

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.here = Path(self.directory.name)

    def file(self, name, *batches):
        path = self.here / name
        path.write_bytes(batches[0] if batches and isinstance(batches[0], bytes) else encode(*batches))
        return path

    def cat(self, *arguments, stdin=None):
        return Result(subprocess.run([CAT, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, timeout=60, check=False))

    def memory(self, *arguments):
        """The most bytes that a run had at once, started by a small process: what its parent has counts as well."""
        starter = ("import resource, subprocess as s, sys; s.run(sys.argv[1:], stdout=s.DEVNULL, stderr=s.DEVNULL);"
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)")
        return int(subprocess.run([sys.executable, "-c", starter, CAT, *map(str, arguments)], stdout=subprocess.PIPE,
                                  timeout=60, check=True).stdout)

    # --- formats ---

    every = event_type(1, "every.type", [("i32", "i"), ("i64", "j"), ("u32", "u"), ("u64", "v"), ("f32", "f"),
                                         ("f64", "d"), ("bool", "b"), ("string", "s"), ("bytes", "raw")],
                       level="warn", constants=[("string", "mode", "", "fast"), ("f64", "half", "s", 0.5)])

    def one_of_each(self, *values):
        return batch(1, [(1, 123_456_789, *values)], types=[self.every], final=True)

    def test_json_is_what_the_decode_job_writes(self):
        one = self.one_of_each(-5, "-7", 5, "18446744073709551615", 0.10000000149011612, 1.5e300, True, "a\"b\n", "00ff")
        line = self.cat(self.file("a.llb", one)).lines[0]
        self.assertEqual(line, '{"ts":"2026-11-21T11:20:00.123456789Z","ts_ns":1795260000123456789,"type":"every.type",'
                               '"level":"warn","host":"h.example","program":"prog","pid":99,"thread":7,"incarnation":"'
                               + "ab" * 16 + '","route":0,"sequence":1,"event_index":0,"mode":"fast","half":0.5,"i":-5,'
                               '"j":-7,"u":5,"v":18446744073709551615,"f":0.1,"d":1.5e+300,"b":true,"s":"a\\"b\\n",'
                               '"raw":"00ff"}')

    def test_json_has_null_for_what_it_cannot_say_and_says_what_it_was(self):
        one = self.one_of_each(0, "0", 0, "0", "nan:7fc00000", "-inf", False, "", "")
        event = self.cat(self.file("a.llb", one)).events()[0]
        self.assertIsNone(event["f"])
        self.assertIsNone(event["d"])
        self.assertEqual(event["non_finite"], {"f": "nan", "d": "-inf"})

    def test_a_field_with_the_name_of_what_each_line_has_gets_another(self):
        clash = event_type(1, "clash", [("u32", "pid"), ("u32", "event"), ("u32", "DATE")])
        path = self.file("a.llb", batch(1, [(1, 0, 1, 2, 3)], types=[clash], final=True))
        self.assertIn('"pid_":1,"event":2,"DATE":3', self.cat(path).lines[0])
        self.assertIn(" pid_=1 event_=2 DATE=3 ", self.cat("-f", "bp", path).lines[0])
        self.assertTrue(self.cat("-f", "ulm", path).lines[0].endswith(" pid=1 event=2 DATE_=3"))

    hostile = ["", "plain", "two words", "tab\there", 'quo"te', "a=b", "back\\slash", "line\nbreak", "\x01", "'", "ü",
               "{}", "#", "x" * 20000]

    def name_value_pairs(self, line):
        """As a reader of BP or ULM takes a line apart: pairs at blanks, but not at those between quotes."""
        pairs, at = [], 0
        pair = re.compile(r'([A-Za-z0-9_.\-]+)=("(?:[^"\\]|\\.)*"|[^\s"=]*)(?: |$)')
        while at < len(line):
            found = pair.match(line, at)
            self.assertIsNotNone(found, line[at:at + 80])
            value = found[2]
            pairs.append((found[1], json.loads(value) if value.startswith('"') else value))
            at = found.end()
        return dict(pairs)

    def test_every_text_comes_back_from_bp_and_ulm(self):
        text = event_type(1, "a.text", [("string", "text")])
        path = self.file("a.llb", batch(1, [(1, i, s) for i, s in enumerate(self.hostile)], types=[text], final=True))
        for style in ("bp", "ulm"):
            lines = self.cat("-f", style, path).lines
            self.assertEqual([self.name_value_pairs(line)["text"] for line in lines], self.hostile, style)

    # --- batches that are made to harm ---

    harmful = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

    def hold(self, path, events):
        """Every format shows all events, a line each, and nothing that drives a terminal; the report is JSON."""
        for style in ("json", "bp", "ulm"):
            result = self.cat("-f", style, "--json", path)
            self.assertEqual(len(result.lines), events, (path.name, style, result.said[:200]))
            for line in result.lines:
                self.assertIsNone(self.harmful.search(line), (path.name, style))
                if style != "json":
                    self.name_value_pairs(line)
            self.assertIsNone(self.harmful.search(result.said), path.name)
            self.assertEqual(result.report()["events"], events, path.name)
        return self.cat("-q", path).lines

    def test_hostile_batches_are_shown_whole_beside_honest_ones(self):
        honest = encode(*run_of([1, 2], size=5, incarnation="cd" * 16))
        for path in sorted((VECTORS / "hostile").glob("*.llb")):
            meaning = json.loads(path.with_suffix(".json").read_text())
            lines = self.hold(self.file(path.name, honest + path.read_bytes() + honest), len(meaning["events"]) + 10)
            named = {str(kind["number"]): kind for kind in meaning["types"]}
            shown = [json.loads(line, object_pairs_hook=lambda pairs: (len(pairs), dict(pairs))) for line in lines]
            for size, event in shown:
                self.assertEqual(size, len(event), f"{path.name}: two fields have one name")
            texts = sorted(event["type"] for _, event in shown if event["incarnation"] == meaning["incarnation"])
            self.assertEqual(texts, sorted(named[str(event["type"])]["name"] for event in meaning["events"]), path.name)

    def test_its_lines_are_those_that_every_writer_of_these_formats_is_held_to(self):
        small = [path for path in sorted((VECTORS / "hostile").glob("*.llb")) if path.stat().st_size < 8192]
        for style in ("json", "bp", "ulm"):
            written = b"".join(subprocess.run([CAT, "-q", "-f", style, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                              check=False).stdout for path in small)
            self.assertEqual(written, (VECTORS / f"text/hostile.{style}").read_bytes(), style)

    def test_batches_without_measure_are_shown_or_refused_beside_honest_ones_in_bounded_memory(self):
        done = subprocess.run([VECTORS / "make_vectors.py", "--large"], stdout=subprocess.PIPE, check=True, timeout=60)
        manifest = json.loads((VECTORS / "hostile.json").read_text())
        honest = run_of([1, 2, 3], size=5, incarnation="cd" * 16)
        for made in sorted(Path(done.stdout.decode().strip()).glob("*.llb")):
            due = manifest[made.stem]["due"]
            due = dict(due.get("lifeline-cat") or due.get("remembering") or due["any"])
            accepted, repeated, conflicts = (due.pop(outcome, 0) for outcome in ("accepted", "duplicate", "conflict"))
            path = self.file(made.name, encode(*honest[:2]) + made.read_bytes() + encode(honest[2]))
            result = self.cat("-f", "none", "--json", path)
            report = result.report()
            self.assertEqual((report["batches"], report["repeated_batches"], report["conflicts"]),
                             (accepted + 3, repeated, conflicts), made.name)
            self.assertEqual(report["damaged_bytes"], made.stat().st_size if due else 0, made.name)
            self.assertLessEqual(set(re.findall(r" not a batch: ([a-z_]+): ", result.said)), due.keys(), made.name)
            self.assertEqual(bool(due), " not a batch: " in result.said, made.name)
            lines = self.cat("-q", "--type", honest[0]["types"][0]["name"], path).events()
            self.assertEqual(sum(event["incarnation"] == "cd" * 16 for event in lines), 15, made.name)
            if made.stem != "swollen":  # a gigabyte of text
                self.hold(path, report["events"])
            if not SANITIZED:
                self.assertLess(self.memory("--sort", path), 256 << 20, made.name)

    def test_bombs_and_other_damage_beside_honest_batches_are_counted_with_their_reasons(self):
        honest = encode(*run_of([1, 2], size=5, incarnation="cd" * 16))
        for path in sorted((VECTORS / "invalid").glob("*.llb")):
            result = self.cat("--json", self.file(path.name, honest + path.read_bytes() + honest))
            self.assertEqual(sum(event["incarnation"] == "cd" * 16 for event in result.events()), 10, (path.name, result.said))
            if path.stat().st_size > 0:
                self.assertGreater(result.report()["damaged_bytes"], 0, path.name)
                self.assertRegex(result.said, " are not a batch: [a-z_]+: ", path.name)

    def test_bp_is_as_netlogger_wrote_it(self):
        one = self.one_of_each(-5, "-7", 5, "6", 0.5, 0.25, True, "a b", "00ff")
        line = self.cat("-f", "bp", self.file("a.llb", one)).lines[0]
        self.assertEqual(line, 'ts=2026-11-21T11:20:00.123456Z event=every.type level=Warn mode=fast half=0.5 i=-5 j=-7 u=5 v=6 '
                               'f=0.5 d=0.25 b=true s="a b" raw=00ff host=h.example prog=prog pid=99 tid=7')

    def test_ulm_is_as_netlogger_wrote_it(self):
        one = self.one_of_each(-5, "-7", 5, "6", 0.5, 0.25, True, "a b", "")
        line = self.cat("--format=ulm", self.file("a.llb", one)).lines[0]
        self.assertEqual(line, 'DATE=20261121112000.123456 HOST=h.example PROG=prog LVL=Warning NL.EVNT=every.type mode=fast '
                               'half=0.5 i=-5 j=-7 u=5 v=6 f=0.5 d=0.25 b=true s="a b" raw=""')

    def test_names_that_bp_does_not_know_are_spelt_in_its_letters(self):
        odd = event_type(1, "odd", [("u32", "größe in b=y")])
        path = self.file("a.llb", batch(1, [(1, 0, 1)], types=[odd], final=True))
        self.assertIn(" gr____e_in_b_y=1 ", self.cat("-f", "bp", path).lines[0])

    def test_floats_have_the_digits_that_tell_them_from_their_neighbours(self):
        numbers = event_type(1, "numbers", [("f64", "d")])
        values = [0.0, 1.0, -1.0, 0.1, 0.3, 1 / 3, 2 / 3, 5e-324, 1.7976931348623157e308, 1e22, 1e21, 123456.789,
                  2.0**53, 2.0**53 + 2, 1e-5, 9.999e-6, 4503599627370497.5, -0.000123, 1e15, 123456789012345.67]
        path = self.file("a.llb", batch(1, [(1, i, v) for i, v in enumerate(values)], types=[numbers], final=True))
        self.assertEqual([event["d"] for event in self.cat(path).events()], values)

    def test_times_before_1970_and_at_the_ends_are_right(self):
        number = event_type(1, "number", [("u32", "value")])
        early = batch(1, [(1, 5, 1)], types=[number], final=True)
        for at, text in ((-1, "1969-12-31T23:59:59.999999999Z"), (-(2**63), "1677-09-21T00:12:43.145224192Z"),
                         (2**63 - 1, "2262-04-11T23:47:16.854775807Z")):
            early["calibrations"] = [dict(early["calibrations"][0], tick="5", realtime_offset_ns=str(at))]
            self.assertEqual(self.cat(self.file("a.llb", early)).events()[0]["ts"], text)

    # --- order ---

    def test_several_inputs_are_merged_by_time(self):
        files = [self.file(f"{n}.llb", *run_of(range(1, 21), start_ns=n * 300, incarnation=f"{n:032x}")) for n in range(3)]
        result = self.cat(*files)
        times = [event["ts_ns"] for event in result.events()]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(times), 180)
        self.assertEqual(result.status, 0, result.said)

    def test_threads_of_one_batch_are_merged_by_time(self):
        one = batch(1, [(1, t, t) for t in (0, 10, 20, 5, 15, 25, 1, 2, 3)], final=True, threads=((7, 3), (8, 3), (9, 3)))
        path = self.file("a.llb", one)
        self.assertEqual(self.cat(path).values(), [0, 1, 2, 3, 5, 10, 15, 20, 25])
        self.assertEqual([event["thread"] for event in self.cat(path).events()], [7, 9, 9, 9, 8, 7, 8, 7, 8])
        self.assertEqual(self.cat("--unsorted", path).values(), [0, 10, 20, 5, 15, 25, 1, 2, 3])

    def late_file(self):
        """The first batch of an emitter comes last, as from a spool."""
        batches = run_of(range(1, 31))
        return self.file("late.llb", *batches[1:], batches[0])

    def test_what_comes_later_than_the_window_is_printed_late_and_admitted(self):
        result = self.cat("--window", "1", self.late_file())
        self.assertNotEqual(result.values(), list(range(90)))
        self.assertEqual(sorted(result.values()), list(range(90)))
        self.assertIn("3 events were outside of the window", result.said)
        self.assertEqual(result.status, 0)

    def test_sort_puts_everything_in_order_whatever_the_input(self):
        path = self.late_file()
        self.assertEqual(self.cat("--sort", path).values(), list(range(90)))
        self.assertEqual(self.cat("--sort", stdin=path.read_bytes()).values(), list(range(90)))

    def test_standard_input_and_directories_are_inputs_too(self):
        first, second = run_of([1, 2])
        self.file("one.llb", first)
        (self.here / "README").write_text("no batches in here")
        result = self.cat("-", self.here, stdin=encode(second))
        self.assertEqual(result.values(), [0, 1, 2, 3, 4, 5])
        self.assertEqual(result.status, 0, result.said)

    def test_memory_does_not_grow_with_the_input(self):
        if SANITIZED:
            self.skipTest("a sanitizer's own memory is what would be measured")
        most = (VECTORS / "valid/largest-raw-events.llb").read_bytes()
        one = json.loads((VECTORS / "valid/largest-raw-events.json").read_text())
        with open(self.here / "big.llb", "wb") as big:
            for sequence in range(1, 61):
                big.write(encode(dict(one, sequence=str(sequence))) if sequence == 1 else most)
        for order in ("--unsorted", "--sort", "--window=4M"):
            self.assertLess(self.memory(order, "-f", "none", self.here / "big.llb"), 64 << 20)

    # --- what is missing ---

    def test_a_gap_is_reported_with_its_events(self):
        result = self.cat("--json", self.file("a.llb", *run_of([1, 2, 5, 6])))
        self.assertEqual(result.status, 1)
        report = result.report()
        self.assertEqual((report["events"], report["missing_events"], report["missing_batches"]), (12, 6, 2))
        self.assertTrue(report["emitters"][0]["final"])

    def test_a_gap_at_the_beginning_is_one_too(self):
        result = self.cat(self.file("a.llb", *run_of([3, 4])))
        self.assertEqual(result.status, 1)
        self.assertIn("missing 6 events in 2 batches", result.said)

    def test_an_emitter_that_never_ended_may_have_more(self):
        last = run_of([1, 2])[0]
        result = self.cat(self.file("a.llb", last))
        self.assertIn("no final batch: there may be more", result.said)
        self.assertEqual(result.status, 0)

    def test_routes_and_incarnations_are_counted_apart(self):
        one, other = run_of([1, 2]), run_of([1, 2], route=3)
        another = run_of([2], incarnation="cd" * 16)
        report = self.cat("--json", self.file("a.llb", *one, *other, *another)).report()
        self.assertEqual([e["missing_batches"] for e in report["emitters"]], [0, 0, 1])
        self.assertEqual(report["emitters"][1]["route_name"], "route-3")

    def test_repeats_are_absorbed_and_counted(self):
        first, second = run_of([1, 2])
        result = self.cat("--json", self.file("a.llb", first, first, second, first))
        self.assertEqual(result.values(), [0, 1, 2, 3, 4, 5])
        self.assertEqual(result.status, 0)
        self.assertEqual(result.report()["repeated_batches"], 2)

    def test_a_sequence_that_comes_again_with_other_bytes_is_a_conflict(self):
        first, second = run_of([1, 2])
        result = self.cat("--json", self.file("a.llb", first, dict(first, pid=1), second))
        self.assertEqual(result.values(), [0, 1, 2, 3, 4, 5])
        self.assertEqual((result.status, result.report()["conflicts"]), (1, 1))
        self.assertIn("has the sequence of an earlier one, 1, and other bytes", result.said)

    def test_drops_are_reported_and_are_not_missing(self):
        one = batch(1, [(1, 0, 0)], emitted=11, dropped={"ring_full": 7, "no_ring": 3}, final=True)
        result = self.cat(self.file("a.llb", one))
        self.assertIn("dropped ring_full 7, dropped no_ring 3", result.said)
        self.assertIn("missing=0", result.said)
        self.assertEqual(result.status, 0)

    def test_batches_that_the_emitter_gave_up_are_dropped_and_not_missing(self):
        first, _, third = run_of([1, 2, 3])
        third["counters"][7] = "3"
        result = self.cat("--json", self.file("a.llb", first, third))
        self.assertEqual((result.status, result.report()["dropped"]), (0, 3))
        self.assertEqual((result.report()["missing_events"], result.report()["missing_batches"]), (0, 0))

    def test_quiet_says_nothing_unless_something_is_missing(self):
        self.assertEqual(self.cat("-q", self.file("a.llb", *run_of([1, 2]))).said, "")
        self.assertIn("missing=3", self.cat("-q", self.file("b.llb", *run_of([2, 3]))).said)

    # --- bytes that are not a batches ---

    def test_damage_between_batches_costs_nothing_else_and_is_named_by_offsets(self):
        first, second, third = (encode(one) for one in run_of([1, 2, 3]))
        result = self.cat(self.file("a.llb", first + b"rubbish\x89LLB" + second + b"\x89L" + third))
        at = len(first)
        self.assertEqual(result.values(), list(range(9)))
        self.assertIn(f"bytes {at} to {at + 10} are not a batch: bad_magic", result.said)
        self.assertIn(f"bytes {at + 11 + len(second)} to {at + 12 + len(second)} are not a batch", result.said)
        self.assertEqual(result.status, 1)

    def test_a_flipped_bit_costs_its_batch_alone(self):
        whole = [bytearray(encode(one)) for one in run_of([1, 2, 3])]
        for position in range(0, len(whole[1]), 31 if SANITIZED else 7):
            flipped = bytearray(whole[1])
            flipped[position] ^= 1 << position % 8
            result = self.cat("--json", stdin=bytes(whole[0] + flipped + whole[2]))
            self.assertEqual(result.values(), [0, 1, 2, 6, 7, 8], position)
            report = result.report()
            self.assertEqual((report["damaged_bytes"], report["missing_events"]), (len(flipped), 3))

    def test_a_torn_end_is_damage(self):
        first, second = (encode(one) for one in run_of([1, 2]))
        for left in (1, 3, 60, 99, 100, len(second) - 1):
            result = self.cat(stdin=first + second[:left])
            self.assertEqual(result.values(), [0, 1, 2])
            self.assertIn(f"bytes {len(first)} to {len(first) + left - 1} are not a batch: truncated", result.said)
            self.assertEqual(result.status, 1)

    def test_a_batch_behind_a_torn_one_is_found(self):
        first, second, third = (encode(one) for one in run_of([1, 2, 3]))
        self.assertEqual(self.cat(stdin=first + second[:150] + third).values(), [0, 1, 2, 6, 7, 8])

    def test_every_vector_is_printed_or_refused(self):
        def ways(number, *all_of_them):  # a sanitizer, under which a start costs much, sees each vector one way
            return all_of_them if not SANITIZED else all_of_them[number % len(all_of_them):][:1]

        for number, path in enumerate(sorted((VECTORS / "valid").glob("*.llb"))):
            for order in ways(number, "--sort", "--unsorted"):
                result = self.cat("--json", order, path)
                meaning = json.loads(path.with_suffix(".json").read_text())
                self.assertEqual(len(result.events()), len(meaning["events"]), path.name)
                times = [int(event["time_ns"]) for event in meaning["events"]]
                self.assertEqual([e["ts_ns"] for e in result.events()], sorted(times) if order == "--sort" else times)
                self.assertEqual(result.report()["damaged_bytes"], 0, path.name)
        for number, path in enumerate(sorted((VECTORS / "invalid").glob("*.llb"))):
            for style in ways(number, "json", "bp", "ulm"):
                result = self.cat("-f", style, path)
                self.assertIn(result.status, (0, 1), path.name)
                if path.stat().st_size > 0:
                    self.assertIn("not a batch", result.said, path.name)

    # --- where it goes ---

    def many(self):
        return self.file("many.llb", *run_of(range(1, 21), size=500))

    def test_a_reader_that_leaves_ends_it_without_a_word(self):
        done = subprocess.run(["bash", "-c", f"'{CAT}' '{self.many()}' | head -1; echo ${{PIPESTATUS[0]}}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertIn(b"\n141\n", done.stdout)
        self.assertEqual(done.stderr, b"")

    def test_with_sigpipe_ignored_it_says_so_and_fails(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([CAT, self.many()], stdout=write, stderr=subprocess.PIPE, check=False,
                              restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        os.close(write)
        self.assertEqual((done.returncode, b"cannot write to standard output: Broken pipe" in done.stderr), (2, True))

    def test_a_full_disk_fails_with_a_sentence(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CAT, self.many()], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot write to standard output: No space left on device", done.stderr)

    def test_an_input_that_cannot_be_read_is_named_and_the_others_are_printed(self):
        result = self.cat(self.here / "nowhere.llb", self.file("a.llb", *run_of([1])))
        self.assertEqual(result.values(), [0, 1, 2])
        self.assertIn("nowhere.llb: No such file or directory", result.said)
        self.assertEqual(result.status, 2)

    # --- filters and options ---

    def test_filters_by_type_level_program_host_and_time(self):
        kinds = [event_type(1, "disk.read.end", []), event_type(2, "disk.write.end", [], level="debug"),
                 event_type(3, "net.send.end", [], level="error")]
        events = [(1 + i % 3, i * 10**9) for i in range(30)]
        path = self.file("a.llb", batch(1, events, types=kinds, final=True),
                         batch(1, events, types=kinds, final=True, incarnation="cd" * 16, program="other", host="o"))

        def count(*arguments):
            return len(self.cat(*arguments, path).lines)

        self.assertEqual(count(), 60)
        self.assertEqual(count("-t", "disk.*"), 40)
        self.assertEqual(count("-t", "disk.read.*", "--type=net.*"), 40)
        said = self.cat("-t", "dsik.*", path).said
        self.assertIn("the types are 'disk.read.end', 'disk.write.end', 'net.send.end'\n", said)
        self.assertNotIn("the types are", self.cat("-t", "dsik.*", "-t", "net.*", path).said)
        self.assertEqual(count("--level", "info"), 40)
        self.assertEqual(count("--level", "error", "--program", "oth*"), 10)
        self.assertEqual(count("--host", "h.example"), 30)
        self.assertEqual(count("--since", "2026-11-21T11:20:10Z"), 40)
        self.assertEqual(count("--since", "2026-11-21T11:20:10.5"), 38)
        self.assertEqual(count("--since", str(EPOCH_NS // 10**9 + 10), "--until", "2026-11-21T11:20:12Z"), 4)
        self.assertEqual(count("--until", "1970-01-02"), 0)

    def test_an_age_is_counted_from_now(self):
        recent = batch(1, [(1, seconds * 10**9, seconds) for seconds in (0, 7000)], final=True)
        recent["calibrations"] = [dict(recent["calibrations"][0], realtime_offset_ns=str(int(time.time() - 7200) * 10**9))]
        self.assertEqual(self.cat("--since", "1h", self.file("a.llb", recent)).values(), [7000])

    def test_a_wrong_command_line_is_one_sentence(self):
        for arguments in (["--format", "xml"], ["--level", "loud"], ["--since", "soon"], ["--window", "-1"],
                          ["--follow", "--sort"], ["--nonsense"], ["-", "-"]):
            result = self.cat(*arguments)
            self.assertEqual(result.status, 2, arguments)
            self.assertIn("--help", result.said)

    def test_it_explains_itself(self):
        self.assertEqual(self.cat("--help").status, 0)
        self.assertRegex(self.cat("--version").lines[0], r"^lifeline-cat \d+\.\d+\.\d+$")

    # --- following ---

    def test_a_file_that_grows_is_followed_and_half_a_batch_is_waited_for(self):
        first, second, third = (encode(one) for one in run_of([1, 2, 3]))
        path = self.file("a.llb", first + second[:50])
        cat = subprocess.Popen([CAT, "--follow", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (cat.poll() is None and cat.kill(), cat.stdout.close(), cat.stderr.close(), cat.wait()))
        self.assertEqual([json.loads(cat.stdout.readline())["value"] for _ in range(3)], [0, 1, 2])
        with open(path, "ab") as growing:
            growing.write(second[50:] + third)
        self.assertEqual([json.loads(cat.stdout.readline())["value"] for _ in range(6)], [3, 4, 5, 6, 7, 8])
        cat.send_signal(signal.SIGINT)
        self.assertIn(b"events=9 batches=3 emitters=1 missing=0", cat.stderr.read())
        self.assertEqual(cat.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
