"""The console's service: its start on an archive, its memory, and its answers over HTTP."""

import contextlib
import http.client
import json
import math
import os
import random
import re
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

from ..processes import ROOT, live_heap

SPANS = 200
SHORTEST_NS = 1000
PICTURE = {"width": 1200, "lines": 1500}  # as the page asks
LOAD_LIMIT_S = 1800


def heap_mb(events):
    """The service keeps as many events as half of the heap holds, at 48 bytes each; a tenth more is for what lies beside."""
    return 256 + math.ceil(events * 2 * 48 * 1.1 / 2**20)


def quantile(values, share):
    """By rank: one of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class Console:
    """A running service; `started` is when its process began."""

    def __init__(self, process, url, started):
        self.process, self.url, self.started = process, url, started
        self.connect()

    def connect(self):
        """Opens a connection anew: the service closes one that is idle for half a minute."""
        self._connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=120)

    def fetch(self, path, **query):
        """The bytes of an answer."""
        return self._answer("GET", f"{path}{'?' if query else ''}{urllib.parse.urlencode(query)}")

    def post(self, path, **body):
        return json.loads(self._answer("POST", path, json.dumps(body), {"Content-Type": "application/json"}))

    def delete(self, path):
        self._answer("DELETE", path)

    def _answer(self, method, path, sent=None, headers=None):
        self._connection.request(method, f"/api/v1{path}", sent, headers or {})
        response = self._connection.getresponse()
        body = response.read()
        if response.status not in (200, 201, 204):
            raise RuntimeError(f"the console answered {path} with {response.status}: {body[:500]}")
        return body

    def get(self, path, **query):
        return json.loads(self.fetch(path, **query))

    def since_start(self):
        return time.monotonic() - self.started

    def memory(self):
        """Resident memory and its peak, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return [int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[1]) * 1024 for name in ("VmRSS", "VmHWM")]

    def live_heap(self):
        return live_heap(self.process.pid)


@contextlib.contextmanager
def console(events, *arguments):
    """`lifeline-console` with memory for so many events, when it has said where it serves."""
    with tempfile.TemporaryFile("w+") as log:
        started = time.monotonic()
        process = subprocess.Popen([ROOT / "scripts/lifeline-console", *arguments], stdout=subprocess.PIPE, stderr=log, text=True,
                                   env={**os.environ, "LIFELINE_CONSOLE_JAVA_OPTS": f"-Xmx{heap_mb(events)}m"})
        try:
            said = process.stdout.readline()
            if not said.startswith("console: "):
                process.wait(10)
                log.seek(0)
                raise RuntimeError(f"the console did not start: {log.read()[-2000:]}")
            yield Console(process, said.split()[1], started)
        except (OSError, http.client.HTTPException) as error:
            log.seek(0)
            raise RuntimeError(f"the console failed: {error}; its log ends with: {log.read()[-2000:]}") from error
        finally:
            process.terminate()
            try:
                process.wait(30)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()


def start(service, events):
    """Seconds since the start until it answers, until lifelines can be drawn, until all is loaded."""
    service.get("/status")
    answered = service.since_start()
    picture = None
    while service.since_start() < LOAD_LIMIT_S:
        status = service.get("/status")
        index = status["index"]
        if status["archive"]["error"]:
            raise RuntimeError(f"the archive was not loaded: {status['archive']['error']}")
        if picture is None and index["fromNs"]:
            lines = service.get("/lifelines", **{"from": index["fromNs"], "to": index["toNs"]}, **PICTURE)["lines"]
            picture = service.since_start() if lines else None
        if picture is not None and not index["loading"] and index["events"] >= events:
            return answered, picture, service.since_start()
        time.sleep(0.05)
    raise RuntimeError(f"not loaded within {LOAD_LIMIT_S} s: {index}")


def answers(service, seed, spans=SPANS):
    """Milliseconds and bytes of lifelines of random spans: of any scale, around events."""
    service.connect()
    index = service.get("/status")["index"]
    first, last = int(index["fromNs"]), int(index["toNs"])
    whole = service.get("/lifelines", **{"from": first, "to": last}, **PICTURE)
    times = [first + at for line in whole["lines"] for at in line["t"]]
    chosen = random.Random(seed)
    milliseconds, sizes = [], []
    for _ in range(spans):
        length = round(SHORTEST_NS * math.exp(chosen.random() * math.log((last - first) / SHORTEST_NS)))
        begin = max(first, chosen.choice(times) - round(length * chosen.random()))
        started = time.perf_counter()
        body = service.fetch("/lifelines", **{"from": begin, "to": begin + length}, **PICTURE)
        milliseconds.append((time.perf_counter() - started) * 1000)
        sizes.append(len(body))
    return milliseconds, sizes
