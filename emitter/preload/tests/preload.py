"""Runs programs under `lifeline-run`, and says what it measured."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ.get("LIFELINE_BIN", Path(__file__).resolve().parents[3] / "build/emitter/bin"))
PYTHON = "/usr/bin/python3"


def clean_environment():
    return {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE") and key != "LD_PRELOAD"}


class Preloaded(unittest.TestCase):
    emitters = "all"

    def setUp(self):
        # Programs that change their user must reach it, which a private TMPDIR would forbid.
        folder = tempfile.TemporaryDirectory(dir="/tmp" if os.getuid() == 0 else None)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.out = self.folder / "events.llb"
        self.rings = self.folder / "rings"
        self.environment = clean_environment() | {"LIFELINE_RING_DIR": str(self.rings)}

    def command(self, *program, options=(), url=None):
        return [BIN / "lifeline-run", "--url", url or f"file://{self.out}", "--emitters", self.emitters, *map(str, options), "--", *map(str, program)]

    def run_measured(self, *program, options=(), status=0, url=None, environment=(), timeout=100, **more):
        """Runs the program to its end; its standard error must have no line of ours."""
        streams = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        done = subprocess.run(self.command(*program, options=options, url=url), env=self.environment | dict(environment), timeout=timeout,
                              check=False, **streams)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def start(self, *program, options=(), environment=(), **more):
        process = subprocess.Popen(self.command(*program, options=options), env=self.environment | dict(environment), **more)
        self.addCleanup(stop, process)
        return process

    def events(self, path=None):
        path = path or self.out
        if not path.exists():
            return []
        done = subprocess.run([BIN / "lifeline-cat", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True)
        self.assertIn(" missing=0 ", done.stderr)
        self.assertIn(" conflicts=0 ", done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def targets(self, operation, program=None, events=None):
        """Sums of io.target, by name: {name: {count, nbytes, again, errors}}."""
        found = {}
        for event in self.events() if events is None else events:
            if event["type"] != "io.target" or event["operation"] != operation or program not in (None, event["program"]):
                continue
            sums = found.setdefault(event["name"], dict.fromkeys(("count", "nbytes", "again", "errors"), 0))
            for key in sums:
                sums[key] += event[key]
        return found

    def caliper(self, name, program=None, events=None):
        """(count, sum of the values) of a caliper, over all intervals."""
        found = [event for event in (self.events() if events is None else events)
                 if event["type"] == "lifeline.summary" and event["type_"] == name and event["field"] == "value" and
                 program in (None, event["program"])]
        return sum(event["count"] for event in found), sum(event["sum"] for event in found)


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
