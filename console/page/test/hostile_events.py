#!/usr/bin/env python3
"""Usage: hostile_events.py nats://HOST:PORT

Publishes batches whose names and strings are made to harm those who show them: objects that pass event types called
`<script>`, right-to-left overrides, control characters, the longest strings, from programs and hosts of such names. Prints
the number of events. Standard library only: batches are encoded by lifeline-encode.
"""

import json
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ENCODE = Path(__file__).resolve().parents[3] / "build/emitter/bin/lifeline-encode"
LONGEST_NAME = 255
LONGEST_ID = 500
LONGEST_STRING = 32_000  # a record is at most 32 KiB
TIMEOUT_S = 60

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)" style="position:fixed;inset:0" x="',
    "'-alert(4)-'</style><style>*{display:none}</style>",
    "</text></svg><script>alert(5)</script>",
    "javascript:alert(6)//${alert(7)}{{alert(8)}}",
    "\u202egnp.exe\u202c",
    "\u2067\u202eunbalanced",
    "a\u0000b\u0007\u001b[31m\u0085\u2028\u2029\r\n\tc",
    "Z" + "\u0351\u0300\u0334" * 40,
    "__proto__",
    "constructor",
    "=cmd|' /C calc'!A0",
    "%_*?'; DROP VIEW events; --",
    "W" * LONGEST_NAME,
    "\u200b\u00a0 ",
]


def batch(sequence, program, host, types, events, start_ns, context=()):
    """A batch in the JSON of FORMAT.md, section 13; events are (type, ns after the start, values)."""
    return {
        "version": 1, "byte_order": "little", "compression": "none", "shuffle": 0, "flags": [],
        "incarnation": f"{sequence:032x}", "sequence": "1", "base_tick": "0", "tick_hz": "1000000000", "clock": "ticks",
        "pid": sequence, "route": 0, "route_name": "default", "host": host, "program": program,
        "counters": [str(len(events)), *["0"] * 11],
        "calibrations": [{"tick": "0", "monotonic_ns": "0", "realtime_offset_ns": str(start_ns), "error_ns": 0, "step": False}],
        "segments": [{"thread": "1", "events": len(events)}], "context": [list(pair) for pair in context], "types": types,
        "events": [{"type": type_, "tick": str(ns), "fields": values} for type_, ns, values in events],
    }


START_NS = time.time_ns() - 60_000_000_000


def event_type(number, name):
    fields = [("string", "id"), ("string", "what"), ("f64", name[:100])]
    return {"number": number, "level": "info", "name": name, "constants": [],
            "fields": [{"type": type_, "name": field, "unit": name[:10]} for type_, field in fields]}


def batches():
    """From each hostile program: each hostile object passes a few hostile types."""
    types = [event_type(i + 1, name) for i, name in enumerate(HOSTILE)]
    for p, program in enumerate(HOSTILE):
        steps = [types[(p + i) % len(types)] for i in range(4)]
        events = [(step["number"], (p * 20 + o) * 10_000_000 + i * (o + 1) * 100_000, [f"{object_[:LONGEST_ID]} {p}", object_, float(o)])
                  for o, object_ in enumerate([*HOSTILE, "x" * LONGEST_STRING])
                  for i, step in enumerate(steps)]
        for begin in range(0, len(events), 16):  # so that no batch is too large
            part = events[begin : begin + 16]
            yield batch(p * 100 + begin // 16 + 1, program, HOSTILE[-1 - p], steps, part, START_NS, [("session", program), ("parent", HOSTILE[0])])


def encode(batches_as_json):
    lines = "".join(json.dumps(each) + "\n" for each in batches_as_json)
    done = subprocess.run([ENCODE, "--stream"], input=lines.encode(), capture_output=True, timeout=TIMEOUT_S, check=False)
    if done.returncode or done.stderr:
        sys.exit(f"lifeline-encode: {done.stderr.decode(errors='replace')}")
    at = 0
    while at < len(done.stdout):
        (length,) = struct.unpack_from("<I", done.stdout, at)
        yield done.stdout[at + 4 : at + 4 + length]
        at += 4 + length


def publish(url, messages):
    """Publishes messages (subject, key or None, bytes) to the streams, and waits until they are stored."""
    host, port = re.fullmatch(r"nats://([^:/]+):(\d+)/?", url).groups()
    with socket.create_connection((host, int(port)), timeout=TIMEOUT_S) as connection, connection.makefile("rb") as answers:
        connection.sendall(b'CONNECT {"verbose":false,"headers":true}\r\nSUB stored 1\r\n')
        for subject, key, message in messages:
            header = b"" if key is None else b"NATS/1.0\r\nLifeline-Key: %s\r\n\r\n" % key.encode()
            connection.sendall(b"HPUB %s stored %d %d\r\n%s%s\r\n" % (subject.encode(), len(header), len(header) + len(message), header, message)
                               if header else b"PUB %s stored %d\r\n%s\r\n" % (subject.encode(), len(message), message))
        connection.sendall(b"PING\r\n")
        left = len(messages)
        while left:
            line = answers.readline()
            if line.startswith(b"MSG"):
                answer = answers.readline()
                if b'"error"' in answer:
                    sys.exit(f"the broker does not store a batch: {answer.decode()}")
                left -= 1
            elif line.startswith(b"PING"):
                connection.sendall(b"PONG\r\n")
            elif line.startswith(b"-ERR") or not line:
                sys.exit(f"the broker refused: {line.decode()}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    publish(sys.argv[1], [("lifeline.batches.0", None, each) for each in encode(batches())])
    print(sum(len(each["events"]) for each in batches()))
