"""Where programs look for shared objects of ours: one rule for sinks and the probe, that of src/base/plugins.h."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from batches import BIN


class Plugins(unittest.TestCase):
    """A found plugin is told by the loader, which refuses it; a missing one by the program."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith("LIFELINE_")}
        self.environment |= {"LD_LIBRARY_PATH": str(BIN.parent / "lib"), "LIFELINE_URL": "null:"}

    def program(self, name):
        copy = self.folder / "bin" / name
        copy.parent.mkdir()
        shutil.copy(BIN / name, copy)
        return copy

    def plant(self, folder, name):
        (self.folder / folder).mkdir(parents=True)
        (self.folder / folder / name).write_text("no library")

    def refused(self, *command, **options):
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, **options)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def recover(self, folder):
        program = self.program("lifeline-recover")
        self.plant(folder, "lifeline-sink-planted.so")
        return self.refused(program, "--url", "planted://host", "--ring-dir", self.folder)

    def test_a_sink_in_the_installation_of_the_program_is_found(self):
        self.assertIn("cannot be loaded", self.recover("lib/lifeline"))

    def test_a_sink_in_a_folder_beside_the_program_is_not_ours(self):
        self.assertIn("no sink for planted:// is installed", self.recover("bin/lifeline"))

    def probe(self, is_removed):
        program = self.program("lifeline-probe")
        self.plant("lib/lifeline", "lifeline-probe-ebpf.so")
        opened = os.open(program, os.O_RDONLY)
        self.addCleanup(os.close, opened)
        if is_removed:
            program.unlink()
        return self.refused(f"/proc/self/fd/{opened}", "--kernel", "sched", "--kernel-source", "ebpf", "--count", "1",
                            pass_fds=[opened])

    def test_what_the_probe_loads_is_found_in_its_installation(self):
        self.assertIn(str(self.folder), self.probe(is_removed=False))

    def test_what_lies_where_a_removed_program_was_is_not_ours(self):
        self.assertNotIn(str(self.folder), self.probe(is_removed=True))


if __name__ == "__main__":
    unittest.main()
