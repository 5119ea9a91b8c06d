"""memcached with two events per request: the change of its source, what is judged, the page; and where it is built, every way to emit."""

import os
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from benching.emitter.row import Case  # noqa: E402
from benching.limit import at_most  # noqa: E402
from benching.memcached.__main__ import CASES, FIGURES, LIMITS, WHAT  # noqa: E402
from benching.memcached.build import program  # noqa: E402
from benching.memcached.change import changed  # noqa: E402
from benching.memcached.measure import measure  # noqa: E402
from benching.memcached.row import Paired, paired  # noqa: E402
from benching.memcached.ways import WAYS  # noqa: E402
from benching.processes import BIN, broker  # noqa: E402
from benching.results import memcached as memcached_page  # noqa: E402

SOURCE = """#include "proto_text.h"
static void other(conn *c) {
    c->item = 0;
}

void complete_nread_ascii(conn *c) {
    if (c->item) {
        finish(c);
    }
    c->item = 0;
}

int try_read_command_ascii(conn *c) {
    process_command_ascii(c, c->rcurr);
    return 1;
}

void process_command_ascii(conn *c, char *command) {
    ntokens = tokenize_command(command, tokens, MAX);
}
"""


class Change(unittest.TestCase):
    def test_only_lines_are_inserted_and_each_is_in_its_function(self):
        lines = changed(SOURCE).split("\n")
        kept = [line for line in lines if "request" not in line]
        self.assertEqual("\n".join(kept), SOURCE)
        self.assertEqual(len(lines) - len(kept), 4)
        self.assertEqual([number for number, line in enumerate(lines) if "request" in line], [1, 11, 16, 22])

    def test_a_function_or_a_line_that_is_missing_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "no function complete_nread_ascii"):
            changed(SOURCE.replace("void complete_nread_ascii", "void complete_nread"))
        with self.assertRaisesRegex(RuntimeError, "0 lines with tokenize_command"):
            changed(SOURCE.replace("tokenize_command", "split_command"))

    def test_a_line_that_is_there_twice_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "2 lines with c->item = 0; in complete_nread_ascii"):
            changed(SOURCE.replace("finish(c);", "c->item = 0;"))


def measured(cpu_ns, per_s=100, lost=0):
    return {"cpu_ns": cpu_ns, "per_s": per_s, "busy": 0.9, "receiver_cpu_ns": 1, "lost": lost, "bytes": 20, "others": 0.1}


class Rows(unittest.TestCase):
    def verdict(self, values, limit=at_most("value", 200)):
        return Paired(Case("lifeline.cpu", "what", limit=limit), values).verdict

    def test_the_whole_interval_decides(self):
        self.assertEqual(self.verdict([150, 160, 170, 180]), "met")
        self.assertEqual(self.verdict([100, 120, 190, -50]), "met")  # however wide it is
        self.assertEqual(self.verdict([250, 250, 250, 250]), "missed by 25%")
        self.assertEqual(self.verdict([150, 190, 210, 250]), "no verdict: the interval includes the limit: rerun on an idle machine")
        self.assertEqual(self.verdict([150, 160]), "no verdict: 2 of 3 repetitions")
        self.assertEqual(self.verdict([150, 250], None), "")

    def test_changes_are_those_within_rounds(self):
        plain, with_it = [measured(4000, 100), measured(8000, 50)], [measured(4200, 90, lost=3), measured(8200, 45, lost=4)]
        values = {name: paired(Case(f"lifeline.{name}", "what"), with_it, plain) for name in FIGURES}
        self.assertEqual([round(value, 6) for value in values["cpu"].values], [200, 200])
        self.assertEqual([round(value, 6) for value in values["cpu.share"].values], [5, 2.5])
        self.assertEqual([round(value, 6) for value in values["rate"].values], [10, 10])
        self.assertEqual((values["cpu"].lost, values["cpu"].details["plain_cpu_ns"]), (7, 6000))

    def test_every_way_has_a_row_per_figure_and_ours_are_limited(self):
        names = [case.name for case in CASES]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual({name.partition(".")[0] for name in names}, set(WAYS) - {"plain"})
        self.assertLessEqual(set(LIMITS), set(names))


class Page(unittest.TestCase):
    MACHINE = {"virtual": True, "cpu": "a CPU", "cores": 2, "memory_gb": 1, "system": "a system", "cc": "cc", "measured": "now", "commit": "0"}

    def document(self, ways):
        rounds = {way: [measured(4000 + 10 * number, 100) for _ in range(3)] for number, way in enumerate(["plain", *ways])}
        rows = [paired(case, rounds[case.name.partition(".")[0]], rounds["plain"]) for case in CASES if case.name.partition(".")[0] in ways]
        return {"rows": [row.document() for row in rows], "version": "1.6", "requests": 1000, "rounds": 3, "slices": 2, "command": "bench", "seconds": 60,
                "not_measured": [WHAT[way] for way in WHAT if way not in ways], "machine": self.MACHINE}

    def test_what_was_measured_is_in_it_and_what_was_not_is_named(self):
        text = memcached_page.page(self.document(["lifeline", "lttng"]))
        self.assertIn("| Lifeline, to NATS | 4,010 ns | +10 ns [+10, +10] | +0.2 % [+0.2, +0.2] |", text)
        self.assertIn("at most 200 ns: met", text)
        self.assertIn("Not measured: OpenTelemetry C++", text)

    def test_its_line_in_the_overview_has_the_verdicts(self):
        self.assertIn("at most 200 ns: met; at most 3 %: met", memcached_page.summary(self.document(["lifeline"])))


@unittest.skipUnless((BIN / "bench-memcached-load").exists(), "the C parts are not built: scripts/build c")
class Load(unittest.TestCase):
    def test_a_reply_that_is_not_the_expected_one_ends_it(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer():
                connection, _ = server.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"ERROR..\n")

            thread = threading.Thread(target=answer)
            thread.start()
            done = subprocess.run([BIN / "bench-memcached-load", "--port", str(server.getsockname()[1]), "--connections", "1"],
                                  capture_output=True, text=True, timeout=60, check=False)
            thread.join()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("not the expected one", done.stderr)


@unittest.skipUnless(program("plain").exists(), "memcached is not built: scripts/setup --bench, scripts/build c rivals memcached")
class Memcached(unittest.TestCase):
    tags = ("system",)

    def test_every_way_that_is_built_is_measured_and_no_event_is_lost_to_nats(self):
        ways = [way for way, (copy, _) in WAYS.items() if program(copy).exists()]
        with broker("nats") as server:
            measured = measure(ways, server, 1000, 2, min(os.sched_getaffinity(0)))  # few enough for one ring
        self.assertEqual(list(measured), ways)
        for way, found in measured.items():
            with self.subTest(way):
                self.assertGreater(found["cpu_ns"], 0)
                self.assertGreater(found["per_s"], 0)
                self.assertEqual(found["lost"] if way == "lifeline" else 0, 0)


if __name__ == "__main__":
    unittest.main()
