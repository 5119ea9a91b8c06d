"""What a tool could not put out is no success."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from batches import BIN


class Output(unittest.TestCase):

    def test_a_full_standard_output_is_a_failure_of_every_tool_that_prints_data(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
            environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
            environment["LIFELINE_RING_DIR"] = str(Path(folder, "rings"))
            spool = Path(folder, "spool")
            spool.mkdir(mode=0o700)
            for command in ([BIN / "lifeline-activate", "--url", Path(folder, "triggers"), "--json", "list"],
                            [BIN / "lifeline-doctor", "--url", "null:", "--json"],
                            [BIN / "lifeline-probe", "--url", "null:", "--count", "1", "--json"],
                            [BIN / "lifeline-recover", "--url", "null:", "--json"],
                            [BIN / "lifeline-spool", "list", "--spool", spool, "--json"]):
                with self.subTest(command[0].name):
                    done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                          check=False)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(f"{command[0].name}: cannot write to standard output", done.stderr)

    def test_a_reader_that_has_read_enough_is_no_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
        with tempfile.TemporaryDirectory() as folder, open(writer, "w") as closed:
            environment["LIFELINE_RING_DIR"] = str(Path(folder, "rings"))
            done = subprocess.run([BIN / "lifeline-doctor", "--url", "null:"], env=environment, stdout=closed,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
