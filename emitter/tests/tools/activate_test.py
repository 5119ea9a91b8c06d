"""lifeline-activate on a trigger file: what it writes and takes away, and what it shows of lines that others wrote."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from batches import BIN, VECTORS


class Activate(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "triggers")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}

    def activate(self, *arguments, status=0):
        done = subprocess.run([BIN / "lifeline-activate", "--url", self.file, *arguments], env=self.environment,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def ids(self):
        return [one["id"] for one in json.loads(self.activate("list", "--json"))]

    def test_what_is_set_is_there_until_it_is_ended(self):
        self.file.write_text("# by hand\nnet.* off id=hand\nend\n")
        self.activate("set", "--id", "tool", "disk.* off")
        self.assertEqual(self.ids(), ["hand", "tool"])
        self.activate("set", "--id", "tool", "disk.* sample:10")
        self.assertEqual(self.ids(), ["hand", "tool"])
        self.assertIn("disk.* sample:10 issued=", self.file.read_text())
        self.activate("end", "tool")
        self.assertEqual(self.file.read_text(), "# by hand\nnet.* off id=hand\nend\n")
        self.activate("end", "tool", status=1)
        self.activate("end", "--all")
        self.assertEqual(self.ids(), [])

    def test_a_dry_run_tells_what_a_line_selects_and_stores_nothing(self):
        line = "disk.* sample:10 program=remote-copy host=lab* when nbytes > 5"
        told = json.loads(self.activate("--json", "set", "--dry-run", "--for", "5m", line))
        self.assertEqual({key: told[key] for key in ("pattern", "resolution", "sample", "program", "host")},
                         {"pattern": "disk.*", "resolution": "sample", "sample": 10, "program": "remote-copy", "host": "lab*"})
        self.assertGreater(told["remaining_ms"], 290_000)
        self.assertFalse(self.file.exists())
        self.activate("set", "--dry-run", "disk.* sampel:10", status=2)
        self.activate("list", "--dry-run", status=2)
        for_all = json.loads(self.activate("--json", "set", "--dry-run", "disk.read.end full"))
        self.assertEqual([for_all[key] for key in ("pattern", "program", "host")], ["disk.read.end", "*", "*"])

    def test_a_terminal_obeys_nothing_that_a_stranger_wrote(self):
        self.file.write_bytes(b"disk.* off id=\x1b[2J\xc2\x9b\xff\n\x1b]0;title\x07 off \xf0\x9f\x8e\x89\nend\n")
        shown = self.activate("list")
        self.assertEqual([byte for byte in shown if byte < 0x20 and byte != 0x0a or byte == 0x7f], [])
        self.assertNotIn("\x9b", shown.decode())
        self.assertIn("?[2J", shown.decode())
        self.assertIn("\N{PARTY POPPER}", shown.decode())
        self.assertNotIn("\x9b", self.activate("list", "--json").decode())
        self.assertEqual(self.ids(), ["\x1b[2J\x9b\ufffd", "line 2"])

    def test_names_of_the_hostile_corpus_neither_hide_nor_turn_around_what_is_listed(self):
        names = [kind["name"] for kind in json.loads((VECTORS / "hostile/type-names.json").read_text())["types"]]
        lines = [" ".join(name.replace("\0", "").split()) for name in names]
        self.file.write_text("".join(f"{line} off id=n{n}\nend\n" for n, line in enumerate(lines)), encoding="utf-8")
        shown = self.activate("list").decode()
        self.assertNotRegex(shown, "[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
        self.assertIn("nimda?gnp.exe", shown)
        self.assertNotRegex(self.activate("list", "--json").decode(), "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
        self.assertEqual(len(shown.split("\n")) - 1, len(self.ids()))

    def test_the_doctor_shows_nothing_of_a_hostile_setting_that_drives_a_terminal(self):
        for hostile in ("a\x1b[2J\x9b", "nimda\u202egnp.exe", "a\nb\u2028c"):
            for name in ("LIFELINE_URL", "LIFELINE_RESOLUTION", "LIFELINE_SPOOL", "LIFELINE_ROUTES", "LIFELINE_TRIGGERS"):
                environment = dict(self.environment, LIFELINE_URL="null:", LIFELINE_RING_DIR=str(self.file.parent / "rings"))
                environment[name] = hostile
                done = subprocess.run([BIN / "lifeline-doctor"], env=environment, capture_output=True, timeout=60, check=False)
                shown = (done.stdout + done.stderr).decode()
                self.assertNotRegex(shown, "[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", name)
                self.assertEqual([line for line in shown.split("\n") if line.startswith("b")], [], name)


if __name__ == "__main__":
    unittest.main()
