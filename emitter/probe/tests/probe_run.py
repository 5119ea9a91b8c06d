"""Runs lifeline-probe for its tests, and gives its events."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(os.environ.get("LIFELINE_BIN", Path(__file__).resolve().parents[3] / "build/emitter/bin"))


def until(condition, what, seconds=60):
    """Waits for a condition, and returns its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return value


def without_late(err):
    """Whether samples are late depends on how busy the machine is."""
    return "".join(line for line in err.splitlines(True) if "came too late" not in line)


def finish(running):
    if running.stdout.closed:
        return
    running.stdin.close()
    try:
        running.wait(timeout=2)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
    running.stdout.close()


class ProbeTest(unittest.TestCase):
    output = "events.llb"  # what events() reads, in self.folder

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.sessions = self.folder / "sessions"
        self.sessions.mkdir(mode=0o700)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE")}
        self.environment |= {"LIFELINE_RING_DIR": f"{folder.name}/rings", "LIFELINE_SESSION_DIR": str(self.sessions),
                             "LIFELINE_URL": f"file://{self.folder}/events.llb", "LIFELINE_INTERVAL_MS": "50",
                             "LIFELINE_CLOCK": "monotonic"}

    def start(self, *arguments, prefix=(), **more):
        running = subprocess.Popen([*prefix, BIN / "lifeline-probe", *map(str, arguments)], env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(self.end, running)
        return running

    def end(self, running, how=signal.SIGTERM):
        """Ends the probe, and returns (status, standard output, standard error)."""
        if running.poll() is None:
            running.send_signal(how)
        if running.stdout.closed:
            return None
        out, err = running.communicate(timeout=120)
        return running.returncode, out, err

    def probe(self, *arguments, status=0, **more):
        """A whole run. Returns what it wrote on standard error, except that it was late: the machine may be busy."""
        running = self.start(*arguments, **more)
        out, err = running.communicate(timeout=300)
        self.assertEqual(running.returncode, status, err)
        self.out = out
        return without_late(err)

    def events(self, *names):
        """The fields of all events of these types, with their time as `tick` in ns."""
        done = subprocess.run([BIN / "lifeline-decode", "--concatenated"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              input=self.written(), check=False).stdout
        found = []
        for line in done.splitlines():
            batch = json.loads(line)
            types = {type["number"]: type for type in batch["types"]}
            for event in batch["events"]:
                type = types[event["type"]]
                if type["name"] not in names:
                    continue
                fields = {"type": type["name"], "tick": int(event["tick"])}
                for field, value in zip(type["fields"], event["fields"]):
                    fields[field["name"]] = int(value) if field["type"] in ("i64", "u64") else value
                found.append(fields)
        return found

    def written(self):
        path = self.folder / self.output
        return path.read_bytes() if path.exists() else b""

    def child(self, code, *arguments, prefix=(), **more):
        """A Python program that should end with its standard input, at the latest at the test's end."""
        running = subprocess.Popen([*prefix, sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, **more)
        self.addCleanup(finish, running)
        return running

    def announce(self, id, pid, directory=None, mode=0o600, text=None):
        path = (directory or self.sessions) / id
        fresh = path.with_suffix(".new")
        fresh.write_text(text if text is not None else f"name=test\npid={pid}\nbegan={time.time_ns()}\n")
        fresh.chmod(mode)
        fresh.rename(path)
        return path
