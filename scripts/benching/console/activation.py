"""Switching on: from the request to the console until the broker holds the first event of each of many emitters."""

import contextlib
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

from .. import machine
from ..emitter.programs import environment
from ..processes import BIN, broker, run, wait_until
from ..processors import Others
from ..figures.row import Row
from .service import console, quantile

EMITTERS, EMITTERS_QUICK = 1000, 20
# The least that the library takes for an emitter's rings and batches, in a file in memory; and what its process takes besides.
BUDGET_BYTES = 2 * 2**20
EMITTER_BYTES = BUDGET_BYTES + 2 * 2**20
KEPT_EVENTS = 1_000_000  # by the console: a fraction of those that arrive
SETTLE_S = 3  # the emitters see the end of the previous activation, and send what they have
SHARES = {"activation.first_event.p50": 0.5, "activation.first_event.p99": 0.99, "activation.first_event.max": 1}


def fitting(wanted):
    """As many emitters as half of the free memory holds."""
    available = int(re.search(r"^MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)[1]) * 1024
    return min(wanted, available // 2 // EMITTER_BYTES)


@contextlib.contextmanager
def emitters(url, count):
    """So many processes, whose types bench.switched1 to 3 are off. A failure shows what they have logged."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.", dir="/dev/shm") as rings, tempfile.TemporaryFile("w+") as log:
        settings = environment(URL=url, RING_DIR=rings, BUDGET_BYTES=BUDGET_BYTES, RESOLUTION="* off level>=debug")
        process = subprocess.Popen(["env", *(f"-u{name}" for name, value in settings.items() if value is None),
                                    *(f"{name}={value}" for name, value in settings.items() if value is not None),
                                    BIN / "bench-switchable", "--emitters", str(count)], stdin=subprocess.PIPE, stderr=log)
        try:
            yield process
        except RuntimeError as error:
            log.seek(0)
            raise RuntimeError(f"{error}; the emitters' log ends with: {log.read()[-500:]}") from error
        finally:
            process.stdin.close()  # its processes end then
            try:
                process.wait(60)
            finally:
                process.kill()
                process.wait()


def known(service, process):
    """How many emitters the console has heard."""
    if process.poll() is not None:
        raise RuntimeError(f"bench-switchable ended with {process.returncode}")
    return service.get("/emitters", program="bench-switchable", n=1)["count"]


def switched(service, url, number, count):
    """Seconds until the first event of each emitter, and those that the request took."""
    kind = f"bench.switched{number}"
    asked_ns = time.time_ns()
    began = time.monotonic()
    activation = service.post("/activations", line=f"{kind} full", seconds=600, confirmed=True)
    request_s = time.monotonic() - began
    found = json.loads(run(BIN / "bench-switched", "--url", url, "--type", kind, "--since", asked_ns, "--emitters", count))
    service.connect()
    service.delete(f"/activations/{activation['id']}")
    if len(found["stored_ns"]) != count:
        raise RuntimeError(f"of {count} emitters {len(found['stored_ns'])} sent {kind} within a minute of its activation")
    return [(stored - asked_ns) / 1e9 for stored in found["stored_ns"]], request_s


def measure(chosen, runs, quick):
    commit = machine.profile()["commit"]
    wanted = EMITTERS_QUICK if quick else EMITTERS
    count = fitting(wanted)
    times, requests, shares = [], [], []
    with broker("nats") as server, console(KEPT_EVENTS, "--broker", server.url) as service, emitters(server.url, count) as process:
        wait_until(lambda: known(service, process) >= count, f"{count} emitters that the console knows")
        for number in range(1, runs + 1):
            time.sleep(SETTLE_S)
            service.connect()
            with Others(server.pid) as others:
                found, request_s = switched(service, server.url, number, count)
            times.append(found)
            requests.append(round(request_s, 3))
            shares.append(others.share)
    details = {"emitters": count, "request_s": requests}
    if count < wanted:
        details["emitters_wanted"] = f"{wanted:,}: more do not fit into half of the free memory"
    return [Row(case, [quantile(found, SHARES[case.name]) for found in times], count, details, max(shares), commit) for case in chosen]
