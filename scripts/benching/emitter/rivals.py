"""Others' ways to keep the same event, measured like ours: bursts that take turns with the floor, and a stream of two
million without a pause for those that have somebody behind the program to keep up."""

import json
import os
import subprocess
import tempfile

from ..processes import ROOT, run
from .lttng import traced
from .programs import environment, parse
from .row import Case

BIN = ROOT / "build/rivals/bin"
STREAM = ("--burst", 2_000_000, "--bursts", 1)

# program, the package that tells its version, what it is
RIVALS = {
    "rival.lttng-ust": ("lttng", "liblttng-ust1", "LTTng-UST, per-user buffers of 4 x 1 MiB per CPU, discards when full"),
    "rival.lttng-ust.stream": ("lttng", "liblttng-ust1", "the same, 2,000,000 without a pause"),
    "rival.lttng-ust.off": ("lttng", "liblttng-ust1", "the same tracepoint, not enabled"),
    "rival.spdlog": ("spdlog", "libspdlog-dev", "spdlog, asynchronous, queue of 65,536, to a file on tmpfs; blocks when full"),
    "rival.spdlog.stream": ("spdlog", "libspdlog-dev", "the same, 300,000 without a pause"),
    "rival.msgpack": ("msgpack", "libmsgpack-dev", "MessagePack array, into a buffer that goes to /dev/null"),
    "rival.protobuf": ("protobuf", "libprotobuf-dev", "Protocol Buffers (C++), likewise"),
    "rival.key-value": ("key-value", None, "key=value text by snprintf, likewise"),
    "rival.ulm": ("ulm", None, "ULM, NetLogger's text format before 2002, likewise"),
    "rival.xml": ("xml", None, "the same as XML, likewise"),
}
CASES = [Case(name, what, rival=True) for name, (_, _, what) in RIVALS.items()]


def version(package):
    if package is None:
        return {}
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    return {"version": asked.stdout} if asked.returncode == 0 else {}


def bench(case, program, *arguments, settings=None):
    """The row, and what the rival kept: how many events, and how large they are."""
    lines = run(BIN / f"bench-rival-{program}", "--name", case.name, *arguments,
                environment=environment() | (settings or {})).splitlines()
    row, kept = parse(case, json.loads(lines[0])), json.loads(lines[1])
    if kept["bytes_per_event"]:
        row.details["bytes_per_event"] = kept["bytes_per_event"]
    return row, kept["events"]


def lttng(case, arguments):
    if case.name.endswith(".off"):
        return bench(case, "lttng", *arguments)[0]
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.", dir="/dev/shm") as folder, traced(folder) as trace:
        row, events = bench(case, "lttng", *arguments, settings=trace.environment)
        row.lost, kept_bytes = trace.stop()
    if events > row.lost:
        row.details["bytes_per_event"] = round(kept_bytes / (events - row.lost), 2)
    row.details["emitted"] = events
    return row


def spdlog(case, arguments):
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.", dir="/dev/shm") as folder:
        return bench(case, "spdlog", *arguments, settings={"BENCH_SPDLOG_FILE": f"{folder}/log"})[0]


def rows(case, quick):
    program, package, _ = RIVALS[case.name]
    if not os.path.exists(BIN / f"bench-rival-{program}"):
        raise RuntimeError(f"{program} is not built: run scripts/setup --bench and scripts/build rivals")
    arguments = ["--repetitions", 2 if quick else 5 if program in ("lttng", "spdlog") else 15]
    if case.name.endswith(".stream"):
        arguments += STREAM if program == "lttng" else ("--burst", 300_000, "--bursts", 1)
    elif quick or program == "spdlog":
        arguments += ["--bursts", 4]
    row = {"lttng": lttng, "spdlog": spdlog}.get(program, lambda c, a: bench(c, program, *a)[0])(case, arguments)
    row.details |= version(package)
    return [row]
