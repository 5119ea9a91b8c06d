"""The ways to emit the two events: what each needs beside the server, and how much of it arrived."""

import contextlib
import http.server
import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..emitter.lttng import traced
from ..emitter.programs import environment
from ..processes import BIN, run

EVENTS = 2  # of a request


@dataclass
class Way:
    """Of one server."""

    settings: dict = field(default_factory=environment)  # of its environment
    kept: Callable = lambda requests, log: (0, 0)  # after its end: events that were lost, bytes of the others
    receiver: int | None = None  # the process that takes its events


@contextlib.contextmanager
def none(_folder, _broker):
    yield Way()


@contextlib.contextmanager
def lifeline(folder, broker):
    program = f"memcached-{os.urandom(4).hex()}"

    def kept(requests, _log):
        back = json.loads(run(BIN / "bench-readback", "--url", broker.url, "--program", program, environment=environment()))
        if back["events"] + back["dropped"] != EVENTS * requests or not back["each_batch_once"] or not back["final"]:
            raise RuntimeError(f"of {EVENTS * requests} events the broker has {back}")
        return back["dropped"], back["bytes"]

    yield Way(environment(URL=broker.url, PROGRAM=program, RING_DIR=folder), kept, broker.pid)


@contextlib.contextmanager
def lttng(folder, _broker):
    with traced(folder, "lifeline_memcached:*") as trace:
        def kept(_requests, _log):
            lost, size = trace.stop()
            if not size:
                raise RuntimeError("LTTng recorded nothing")
            return lost, size

        yield Way(environment() | trace.environment, kept, trace.daemon)


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans and counts their bytes."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.received += len(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def otel(_folder, _broker):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.received = 0
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def kept(requests, log):
            exported = re.search(r"^request-otel: (\d+) spans exported", Path(log).read_text(), re.MULTILINE)
            if not exported:
                raise RuntimeError(f"it did not say how many spans it exported: {Path(log).read_text()[-2000:]}")
            return EVENTS * (requests - int(exported[1])), server.received

        url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        try:
            yield Way(environment() | {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url}, kept)
        finally:
            server.shutdown()


# name: the program (of build.COPIES), how its events are taken
WAYS = {"plain": ("plain", none), "off": ("lifeline", none), "lifeline": ("lifeline", lifeline), "lttng": ("lttng", lttng),
        "otel": ("otel", otel)}
