"""What programs of an earlier release left is delivered, or kept and named.

upgrade/be341dd.tar.gz has what `serial-emitter --threads 2 --events 2000` of commit be341dd left twice: a spool, when its broker could
not be reached, and a ring file, when it was killed before its sink took anything.
"""

import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from batches import BIN

HEADER = 256  # where the claim of a recovery is

STORED = Path(__file__).with_name("upgrade") / "be341dd.tar.gz"


class Upgrade(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        with tarfile.open(STORED) as stored:
            stored.extractall(self.folder)
        (self.folder / "rings").chmod(0o700)
        self.output = self.folder / "delivered.llb"

    def run_tool(self, *command):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
        return subprocess.run([str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, check=False)

    def test_a_spool_is_drained(self):
        done = self.run_tool(BIN / "lifeline-spool", "drain", "--spool", self.folder / "spool", "--url", f"file://{self.output}")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("drain: segments=1 batches=2 events=2000 refused_batches=0 left=0", done.stdout)
        self.assertEqual(list((self.folder / "spool").glob("*.spool")), [])
        found = self.run_tool(BIN / "lifeline-cat", self.output).stdout
        self.assertIn("events=2000 batches=2 emitters=1 missing=0 missing_batches=0 repeated_batches=0 conflicts=0", found)
        serials = {line[line.index('"worker"'):] for line in found.splitlines() if '"type":"test.serial"' in line}
        self.assertEqual(len(serials), 2000)

    def test_a_ring_file_of_another_version_is_kept_and_named(self):
        rings = list((self.folder / "rings").iterdir())
        before = rings[0].read_bytes()
        done = self.run_tool(BIN / "lifeline-recover", "--ring-dir", self.folder / "rings", "--url", f"file://{self.output}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("left: a ring file of another version of Lifeline; deliver its events with the lifeline-recover of that "
                      "version", done.stdout)
        self.assertEqual(list((self.folder / "rings").iterdir()), rings)
        self.assertEqual(rings[0].read_bytes()[HEADER:], before[HEADER:])


if __name__ == "__main__":
    unittest.main()
