"""End to end through each broker: from ll_emit to a synced Parquet file, beside the broker's own rate for the same number
of messages of the same size, and the stream jobs' rates over what the broker holds."""

import json
import re
import struct
import tempfile
import time
import urllib.request
from pathlib import Path

from .measurement import Measurement
from .processes import BIN, broker, emit, run, stream_jobs, wait_until

EVENTS, EVENTS_QUICK = 40_000_000, 500_000  # enough for the two seconds in which a Java process warms up not to matter
TOTAL_LENGTH_OFFSET = 56  # FORMAT.md, section 3


def batch_sizes(path):
    """The lengths of the batches in a file that the sink file:// wrote."""
    sizes, at = [], 0
    with open(path, "rb") as batches:
        while batches.seek(at + TOTAL_LENGTH_OFFSET) and (length := batches.read(4)):
            sizes.append(struct.unpack("<I", length)[0])
            at += sizes[-1]
    return sizes


def sizes_of(events):
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        emit(f"file://{folder}/batches.llb", events)
        return batch_sizes(f"{folder}/batches.llb")


def raw(kind, sizes):
    """Seconds that the broker alone takes for as many messages of their mean size."""
    with broker(kind) as server:
        topic = "lifeline.batches.0" if kind == "nats" else "lifeline.batches"
        address = server.url.removeprefix("kafka://")
        answer = run(BIN / "raw-publisher", kind, address, topic, len(sizes), round(sum(sizes) / len(sizes)))
    return json.loads(answer)["seconds"]


def archived(folder):
    """Events in the manifests of an archive: what its readers see."""
    manifests = {path.name: json.loads(path.read_text()) for path in Path(folder).glob("manifests/*.json")}
    replaced = {name for manifest in manifests.values() for name in manifest["replaces"]}
    return sum(file["rows"] for name, manifest in manifests.items() if name not in replaced
               for file in manifest["files"] if file["kind"] != "BATCHES")


def summarised(health):
    with urllib.request.urlopen(f"{health}/metrics", timeout=10) as answer:
        counts = re.findall(r'^lifeline_events_total\{.*task="[^"]*summarise[^"]*".*\} (\S+)$', answer.read().decode(),
                            re.MULTILINE)
    return sum(float(count) for count in counts)


def measure(kind, quick):
    events = EVENTS_QUICK if quick else EVENTS
    sizes = sizes_of(events)
    raw_seconds = raw(kind, sizes)
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        with broker(kind) as server:
            url = server.url
            with stream_jobs(url, "archive", f"{folder}/live"):
                started = time.monotonic()
                emit_seconds = emit(url, events)
                wait_until(lambda: archived(f"{folder}/live") >= events, "every event in the archive")
                live_seconds = time.monotonic() - started
            with stream_jobs(url, "archive", f"{folder}/again"):
                archive_seconds = wait_until(lambda: archived(f"{folder}/again") >= events, "every event archived again")
            with stream_jobs(url, "summarise") as health:
                summarise_seconds = wait_until(lambda: summarised(health) >= events, "every event summarised")
        for archive in ("live", "again"):
            if archived(f"{folder}/{archive}") != events:
                raise RuntimeError(f"the archive holds {archived(f'{folder}/{archive}')} of {events} events")

    name = {"nats": "NATS JetStream", "kafka": "Kafka"}[kind]
    floor = events / raw_seconds / 1e6
    slowest = "the archive" if archive_seconds > emit_seconds else "the way from the program to the broker"
    details = {"events": events, "batches": len(sizes), "bytes": sum(sizes), "raw_seconds": round(raw_seconds, 3),
               "emit_seconds": round(emit_seconds, 3), "live_seconds": round(live_seconds, 3),
               "archive_seconds": round(archive_seconds, 3), "summarise_seconds": round(summarise_seconds, 3)}
    floor_is = f"{name} alone, {len(sizes)} messages of {round(sum(sizes) / len(sizes))} bytes by its C client"
    return [
        Measurement(f"{kind}-end-to-end", f"{name}: emit to archive", events / live_seconds / 1e6, "M events/s", floor,
                    floor_is, "",
                    f"{live_seconds:.1f} s in all: the emitter had every acknowledgement after {emit_seconds:.1f} s, the "
                    f"broker alone needs {raw_seconds:.1f} s for these bytes, and archiving them alone takes "
                    f"{archive_seconds:.1f} s, so {slowest} sets the pace.", details),
        Measurement(f"{kind}-emit", f"{name}: emit to acknowledgement", events / emit_seconds / 1e6, "M events/s", floor,
                    floor_is, "",
                    f"{emit_seconds:.1f} s from the process' start to the last acknowledgement, of which the broker "
                    f"alone accounts for {min(1, raw_seconds / emit_seconds):.0%}; the rest is emitting, sealing, and the "
                    f"process' start and end.", details),
        Measurement(f"{kind}-archive", f"{name}: broker to archive", events / archive_seconds / 1e6, "M events/s", 0, "", "2",
                    "from the jobs' readiness to the last manifest: fetching, checking, decoding, Parquet encoding with "
                    "zstd and the files' fsync, of which `archive` (without a broker) shows the part after fetching.",
                    details),
        Measurement(f"{kind}-summarise", f"{name}: broker to summaries", events / summarise_seconds / 1e6, "M events/s", 0,
                    "", "5", "from the jobs' readiness until the last event is aggregated: fetching, checking, decoding and "
                    "three fields' statistics with quantile sketches.", details),
    ]
