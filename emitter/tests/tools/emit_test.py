"""lifeline-emit as a shell uses it: words in, events and an exit status out."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from batches import BIN


class Emit(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name, "events.llb")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
        self.environment |= {"LIFELINE_URL": f"file://{self.out}", "LIFELINE_RING_DIR": f"{folder.name}/rings"}

    def emit(self, *arguments, lines="", status=0, says=""):
        done = subprocess.run([BIN / "lifeline-emit", *arguments], env=self.environment, input=lines, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(says, done.stderr)
        if not says:
            self.assertEqual(done.stderr, "")
        return done.stdout

    def events(self):
        """(type, {field: value}) of each."""
        decoded = subprocess.run([BIN / "lifeline-decode", "--concatenated"], input=self.out.read_bytes(),
                                 stdout=subprocess.PIPE, check=True).stdout
        for line in decoded.splitlines():
            batch = json.loads(line)
            types = {type["number"]: type for type in batch["types"]}
            for event in batch["events"]:
                type = types[event["type"]]
                yield type, dict(zip((field["name"] for field in type["fields"]), event["fields"]))

    def test_a_values_looks_say_its_type(self):
        self.emit("a.b", "i=-12", "u=9223372036854775808", "f=1e9", "g=.5", "t=true", "s=12 apples", "e=", "x=0x10",
                  "n=nan", "v=1.2.3", "q=a=b", "m=-", "l=99999999999999999999")
        [(type, fields)] = self.events()
        self.assertEqual({field["name"]: field["type"] for field in type["fields"]},
                         dict(i="i64", u="u64", f="f64", g="f64", t="bool", s="string", e="string", x="string", n="string",
                              v="string", q="string", m="string", l="f64"))
        self.assertEqual((fields["i"], fields["u"], fields["g"], fields["t"]), ("-12", "9223372036854775808", 0.5, True))
        self.assertEqual((fields["s"], fields["e"], fields["q"]), ("12 apples", "", "a=b"))

    def test_types_and_units_can_be_given(self):
        self.emit("--level", "debug2", "a", "n:u32:B=5", "w::ms=7", "s:string=5", "b:bytes=00fF", "f:f32=nan", "o:bool=1")
        [(type, fields)] = self.events()
        self.assertEqual(type["level"], "debug2")
        self.assertEqual([(field["type"], field["unit"]) for field in type["fields"]],
                         [("u32", "B"), ("i64", "ms"), ("string", ""), ("bytes", ""), ("f32", ""), ("bool", "")])
        self.assertEqual((fields["n"], fields["s"], fields["b"], fields["o"]), (5, "5", "00ff", True))

    def test_lines_of_standard_input_are_events_and_a_bad_one_is_left_out(self):
        lines = '# a comment\n\na x=1\n  b text="two \\"words\\"\\n" y=2\r\nc nonsense\nd open="\nlast z=3'
        self.emit("-", lines=lines, status=1, says="line 5: field 1: a field must be KEY=VALUE; the line is skipped\n"
                                                  "lifeline-emit: line 6: a closing quote is missing; the line is skipped")
        found = [(type["name"], fields) for type, fields in self.events()]
        self.assertEqual(found, [("a", {"x": "1"}), ("b", {"text": 'two "words"\n', "y": "2"}), ("last", {"z": "3"})])

    def test_many_lines_lose_nothing(self):
        self.emit("-", lines="".join(f"n i={i}\n" for i in range(50000)))
        self.assertEqual([int(fields["i"]) for _, fields in self.events()], list(range(50000)))

    def test_wrong_usage_is_status_2_and_emits_nothing(self):
        for arguments, says in (([], "no event name"), (["--level", "loud", "a"], "unknown level loud"),
                                (["--timeout", "-1", "a"], "--timeout must be a number"), (["--what"], "unknown or incomplete"),
                                (["--url"], "unknown or incomplete"), (["a", "novalue"], "a field must be KEY=VALUE"),
                                (["a", "n:u8=1"], "one of i32"), (["a", "n:u32=4294967296"], "out of the range of its type"),
                                (["a", "n:u32=-1"], "an integer of at least 0"), (["a", "b:bytes=abc"], "two digits each"),
                                (["a", "x=1", "x=2"], "field names must differ"), (["", "x=1"], "names must not be empty"),
                                (["a", "o:bool=maybe"], "a bool must be true or false"), (["a", "=1"], "KEY=VALUE")):
            with self.subTest(arguments):
                self.emit(*arguments, status=2, says=says)
                self.assertFalse(self.out.exists())

    def test_without_a_url_it_says_so(self):
        del self.environment["LIFELINE_URL"]
        self.emit("a", "x=1", status=2, says="no sink: give --url or set LIFELINE_URL")

    def test_a_sink_that_cannot_be_had_is_status_1(self):
        self.emit("--url", "gopher://localhost", "a", "x=1", status=1, says="gopher")

    def test_a_drop_says_why_and_only_wrong_usage_points_to_the_help(self):
        self.emit("a", "x=" + 40000 * "x", status=1, says="1 event was dropped: larger than 32,768 bytes")
        self.assertNotIn("--help", self.complaint("a", "n:u8=1"))
        self.assertIn("--help", self.complaint("--what"))

    def complaint(self, *arguments):
        return subprocess.run([BIN / "lifeline-emit", *arguments], env=self.environment, text=True, capture_output=True,
                              timeout=60, check=False).stderr

    def test_a_broker_that_is_away_is_waited_for_only_where_somebody_asks_for_it(self):
        away = [BIN / "lifeline-emit", "--url", "nats://127.0.0.1:1"]
        with subprocess.Popen([*away, "--timeout", "60000", "a"], env=self.environment, stderr=subprocess.DEVNULL) as patient:
            done = subprocess.run([*away, "a"], env=self.environment, text=True, capture_output=True, timeout=60, check=False)
            self.assertIsNone(patient.poll())
            patient.kill()
        self.assertEqual(done.returncode, 1)
        self.assertIn("kept in", done.stderr)

    def test_an_interrupt_delivers_what_was_read(self):
        with subprocess.Popen([BIN / "lifeline-emit", "-"], env=self.environment, stdin=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE) as running:
            running.stdin.write("a x=1\n")
            running.stdin.flush()
            while not self.out.exists() or self.out.stat().st_size == 0:  # the first batch: within a second
                self.assertIsNone(running.poll())
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=30), 128 + signal.SIGINT)
        self.assertEqual([fields for _, fields in self.events()], [{"x": "1"}])

    def test_whoever_interrupts_again_does_not_wait_for_a_broker_that_is_away(self):
        away = [BIN / "lifeline-emit", "--url", "nats://127.0.0.1:1", "--timeout", "60000", "-"]
        with subprocess.Popen(away, env=self.environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdin.write(b"a x=1\n")
            running.stdin.close()
            self.assertIn(b"127.0.0.1:1", running.stderr.readline())
            began = time.monotonic()
            while running.poll() is None:
                running.send_signal(signal.SIGINT)
                time.sleep(0.1)
            self.assertEqual(running.returncode, -signal.SIGINT)
            self.assertLess(time.monotonic() - began, 30)  # of the minute

    def test_help_and_version(self):
        self.assertIn("Exit status:", self.emit("--help"))
        self.assertRegex(self.emit("--version"), r"^lifeline-emit \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
