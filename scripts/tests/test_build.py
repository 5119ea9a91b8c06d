"""scripts/build --configure: a build folder follows what is installed now, and where its clone is."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("scripts", "emitter", "schemas", "examples", "tests")  # what CMake reads


def programs_without(unwanted):
    """PATH's programs, the first of each name, but for those that `unwanted` says."""
    found = {}
    for folder in os.environ["PATH"].split(":"):
        for path in Path(folder).glob("*") if folder else ():
            if not unwanted(path.name):
                found.setdefault(path.name, path)
    return found


class ConfigurationTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.place = Path(holder.name)
        self.clone = self.place / "a clone"
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard", *NEEDED],
                                capture_output=True, check=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.clone / name)
        self.programs = self.place / "programs"
        self.programs.mkdir()
        for name, path in programs_without(lambda name: name.startswith("clang")).items():
            (self.programs / name).symlink_to(path)

    def configure(self, **variables):
        environment = os.environ | {"PATH": str(self.programs)} | variables
        done = subprocess.run([self.clone / "scripts/build", "--configure", "c"], env=environment, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        return self.clone / "build/emitter"

    def test_the_configuration_follows_what_is_installed_and_where_the_clone_is(self):
        folder = self.configure()
        self.assertNotIn("lifeline-fuzz-read", (folder / "build.ninja").read_text())
        written = (folder / "CMakeCache.txt").stat().st_mtime_ns
        self.configure(PKG_CONFIG_PATH=str(self.place))
        self.assertEqual(written, (folder / "CMakeCache.txt").stat().st_mtime_ns, "configured again, though nothing changed")

        objects = folder / "CMakeFiles/lifeline-objects.dir"
        self.assertTrue(objects.is_dir())
        (self.programs / "clang").write_text("#!/bin/sh\n")
        (self.programs / "clang").chmod(0o755)
        self.configure()
        self.assertIn("lifeline-fuzz-read", (folder / "build.ninja").read_text())
        self.assertTrue(objects.is_dir(), "objects were removed, though the compiler is the same")

        old, self.clone = self.clone, self.place / "moved"
        old.rename(self.clone)
        self.assertNotIn(str(old), (self.configure() / "build.ninja").read_text())

    def test_nothing_is_built_under_running_tests(self):
        (self.clone / "build").mkdir()
        with (self.clone / "build/testing.lock").open("w") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            outside = {name: value for name, value in os.environ.items() if name != "LIFELINE_TEST_PORTS"}
            for environment in outside, outside | {"LIFELINE_TEST_PORTS": "20000-20099"}:
                done = subprocess.run([self.clone / "scripts/build", "--configure", "c"], env=environment, capture_output=True, text=True)
                self.assertEqual(1, done.returncode)
                self.assertIn("tests run in this clone", done.stderr)
                self.assertFalse((self.clone / "build/emitter").exists())


if __name__ == "__main__":
    unittest.main()
