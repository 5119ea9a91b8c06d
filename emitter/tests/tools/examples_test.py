"""The examples do what the comments at their tops say."""

import json
import math
import os
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

from batches import BIN


class Examples(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.out = self.here / "events.llb"
        self.environment = dict(os.environ, LIFELINE_URL=f"file://{self.out}", LIFELINE_RING_DIR=str(self.here / "rings"))

    def run_example(self, name, *arguments, **environment):
        return subprocess.run([BIN / f"lifeline-{name}", *arguments], env=dict(self.environment, **environment), text=True,
                              stdout=subprocess.PIPE, check=True, timeout=60).stdout

    def events(self):
        """What lifeline-cat prints, after it has found nothing missing."""
        done = subprocess.run([BIN / "lifeline-cat", self.out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_minimal_emits_the_beginning_and_the_end_of_each_sum(self):
        self.run_example("minimal")
        expected = [(kind, id) for id in range(1000) for kind in ("work.start", "work.end")]
        events = self.events()
        self.assertEqual([(e["type"], e["id"]) for e in events], expected)
        self.assertAlmostEqual(events[-1]["result"], math.pi**2 / 6, places=3)

    def test_threads_emits_pairs_and_counts_them(self):
        said = self.run_example("threads")
        self.assertTrue(said.startswith("emitted 8000, of which no room for 0"), said)
        kinds = Counter(event["type"] for event in self.events())
        self.assertEqual(kinds, {"example.step.start": 4000, "example.step.end": 4000})

    def test_scope_emits_the_end_on_every_way_out(self):
        self.assertEqual(self.run_example("scope"), "query 3: too many rows\n")
        ends = [(e["id"], e["rows"], e["ok"]) for e in self.events() if e["type"] == "example.query.end"]
        self.assertEqual(ends, [(1, 50, True), (2, 100, True), (3, 0, False)])

    def test_generators_measure_each_message_as_the_catalogue_says(self):
        self.run_example("generators", "10")
        events = self.events()
        self.assertEqual([(e["type"], e["generator"], e["sequence_"]) for e in events],
                         [("generator.measurement", generator, n) for n in range(10) for generator in range(3)])
        for event in events:
            self.assertEqual(event["rtt"], event["prt"] + event["pt"] + event["srt"])

    def test_activation_shows_packets_only_when_a_file_asks_for_them(self):
        triggers = self.here / "triggers"
        with subprocess.Popen([BIN / "lifeline-activation", "5"],
                              env=dict(self.environment, LIFELINE_RESOLUTION="* off level>=debug",
                                       LIFELINE_TRIGGERS=str(triggers))) as running:
            time.sleep(1)
            asked_ns = time.time_ns()
            triggers.touch(mode=0o600)
            triggers.write_text("example.packet sample:10 when nbytes>1000 for=2s\nend\n")
            self.assertEqual(running.wait(timeout=30), 0)
        events = self.events()
        packets = [event for event in events if event["type"] == "example.packet"]
        self.assertGreater(len(packets), 5)
        self.assertGreater(min(event["nbytes"] for event in packets), 1000)
        self.assertGreater(min(event["ts_ns"] for event in packets), asked_ns)
        self.assertLess(packets[-1]["ts_ns"] - packets[0]["ts_ns"], 4 * 10**9)
        self.assertGreater(len(events) - len(packets), 2)

    def test_calipers_sums_up_the_reads_and_tells_of_the_one_that_hangs(self):
        said = self.run_example("calipers", LIFELINE_RESOLUTION="example.read summary interval=1s")
        self.assertEqual(said, "read 8192000 bytes\n")
        events = self.events()
        summaries = [event for event in events if event["type"] == "lifeline.summary"]
        self.assertEqual({event["field"] for event in summaries}, {"value", "duration", "rate"})
        self.assertEqual(sum(e["sum"] for e in summaries if e["field"] == "value"), 8192000)
        self.assertGreater(max(e["max"] for e in summaries if e["field"] == "duration"), 2.4e9)
        hanging = [event for event in events if event["type"] == "lifeline.open"]
        self.assertGreaterEqual(len(hanging), 1)
        self.assertGreaterEqual(hanging[-1]["age"], 1e9)


if __name__ == "__main__":
    unittest.main()
