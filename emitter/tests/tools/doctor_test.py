"""lifeline-doctor finds the settings wrong exactly when a program refuses them: both get the same random settings."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from batches import BIN

PACKAGE = BIN.parents[2] / "emitter/python"
CASES = 120

# Per line a child with that environment, which is told apart from a program of its own by nothing but a start of Python. ll_init
# waits a second for the sinks to open, which a busy machine may need more than: a flush comes behind it.
PROGRAM = """
import json, os, sys
import lifeline

def emit(environment, said):
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.environ.clear()
    os.environ.update(environment)
    try:
        lifeline.init(flush_timeout_ms=1)
    except lifeline.LifelineError:
        pass
    lifeline.flush(60)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        emit(**json.loads(line))
        sys.exit()
    print(os.waitpid(child, 0)[1], flush=True)
"""

# Some right and some wrong, and changed at random on top.
SETTINGS = {
    "LIFELINE_URL": ["null:", "null:x", "file://{folder}/out.llb", "file:out.llb", "file://", "foo:", "nats://127.0.0.1:1",
                     "nats:/x", "nats://127.0.0.1:1?foo=bar", "nats://127.0.0.1:1/a.b?stream=S", "nats://127.0.0.1:1?in_flight=x",
                     "nats://127.0.0.1:1?ca=/none", "kafka://127.0.0.1:1", "kafka://127.0.0.1:1/topic?acks=1",
                     "kafka://127.0.0.1:1?foo=bar"],
    "LIFELINE_RESOLUTION": ["a sample:10", "a smaple", "** off", "a.* full when x>3", "a summary:5s; b off", "a full for 10m", ";"],
    "LIFELINE_ROUTES": ["x=null:", "x=foo:", "x=null:,x=null:", "default=null:", "x=file:///a,y=null:", "x", "=null:"],
    "LIFELINE_NEVER": ["secret", "**", "a.*;b", "a b"],
    "LIFELINE_MAX_FOR": ["10m", "366d", "x"],
    "LIFELINE_MAX_RATE": ["1000", "-1", "1e3"],
    "LIFELINE_BUDGET_BYTES": ["16777216", "1", "64M"],
    "LIFELINE_BATCH_BYTES": ["65536", "1"],
    "LIFELINE_COMPRESSION": ["lz4", "gzip"],
    "LIFELINE_CONTEXT": ["a=b", "a", "=b", "a=b,,c=d"],
    "LIFELINE_SPOOL_FULL": ["block", "wait"],
    "LIFELINE": ["on", "off", "maybe"],
}


def changed(name, text, chance):
    if name == "LIFELINE_ROUTES" or chance.random() < 0.8:  # a program reads all of a route's URL when it first uses the route
        return text
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(["", "?", ":", "/", "*", ";", " ", "x", "="]) + text[at + chance.randrange(2):]


def some_settings(chance, folder):
    names = [name for name in SETTINGS if name != "LIFELINE_URL" and chance.random() < 0.15]
    return {name: changed(name, chance.choice(SETTINGS[name]).format(folder=folder), chance) for name in ["LIFELINE_URL", *names]}


class Doctor(unittest.TestCase):
    tags = {"system"}

    def test_it_finds_the_settings_wrong_exactly_when_a_program_refuses_them(self):
        seed = random.randrange(2**32)
        chance = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            plain = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
            plain |= {"LIFELINE_RING_DIR": f"{folder}/rings", "LIFELINE_LIBRARY": str(BIN.parent / "lib/liblifeline.so.0"),
                      "PYTHONPATH": str(PACKAGE)}
            outcomes = set()
            self.said = Path(folder) / "said"
            self.programs = subprocess.Popen([sys.executable, "-c", PROGRAM], env=plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(self.programs.communicate)
            for case in range(CASES):
                settings = some_settings(chance, folder)
                if not settings["LIFELINE_URL"]:
                    continue
                with self.subTest(seed=seed, case=case, settings=settings):
                    refused = self.program_refuses(plain | settings)
                    outcomes.add(refused)
                    self.assertEqual(refused, self.doctor_finds_them_wrong(plain | settings))
        self.assertEqual({True, False}, outcomes)

    def program_refuses(self, environment):
        print(json.dumps({"environment": environment, "said": str(self.said)}), file=self.programs.stdin, flush=True)
        self.assertEqual(0, int(self.programs.stdout.readline()), self.said.read_text())
        return "its events are counted as dropped" in self.said.read_text()

    def doctor_finds_them_wrong(self, environment):
        done = subprocess.run([BIN / "lifeline-doctor", "--json"], env=environment, capture_output=True, timeout=120, check=False)
        found = json.loads(done.stdout)["findings"]
        return any(finding["state"] == "fail" and finding["subject"] in ("settings", "url", "sink") for finding in found)


if __name__ == "__main__":
    unittest.main()
