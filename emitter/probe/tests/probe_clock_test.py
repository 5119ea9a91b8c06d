"""The offset from the broker's clock: of a real NATS server, whose answers a proxy delays and shifts on request."""

import datetime
import json
import os
import re
import select
import socket
import subprocess
import threading
import time
import unittest
from pathlib import Path

from probe_run import BIN, ProbeTest

ROOT = Path(__file__).resolve().parents[3]
TIME = re.compile(rb'"ts":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')


class Proxy(threading.Thread):
    """Forwards connections to a server. Times in its answers are `shift_s` later, and all data come `delay_s` later."""

    def __init__(self, port, shift_s=0, delay_s=0):
        super().__init__(daemon=True)
        self.server, self.shift_s, self.delay_s = port, shift_s, delay_s
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.forward, args=(client,), daemon=True).start()

    def forward(self, client):
        with client, socket.create_connection(("127.0.0.1", self.server)) as server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(1 << 20)
                    if not data:
                        return
                    if ready is server:
                        time.sleep(self.delay_s)
                        data = TIME.sub(self.shifted, data)
                    (server if ready is client else client).sendall(data)

    def shifted(self, match):
        then = datetime.datetime.fromisoformat(match[1].decode()) + datetime.timedelta(seconds=self.shift_s)
        return b'"ts":"' + then.isoformat(timespec="seconds").encode()


class Clock(ProbeTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = f"/tmp/lifeline-probe-clock-{os.getpid()}"
        started = subprocess.run([ROOT / "scripts/broker", "start", "nats", "--dir", cls.place], capture_output=True, text=True,
                                 check=False)
        if started.returncode != 0:
            raise unittest.SkipTest(f"no NATS server: {started.stderr.strip()}")
        cls.addClassCleanup(subprocess.run, [ROOT / "scripts/broker", "stop", "--dir", cls.place], capture_output=True, check=False)
        cls.port = int(re.search(r"LIFELINE_BROKER_URL=nats://127.0.0.1:(\d+)", Path(cls.place, "broker.env").read_text())[1])

    def setUp(self):
        super().setUp()
        self.setup = {**self.environment, "LIFELINE_URL": f"nats://127.0.0.1:{self.port}"}

    def measured(self, proxy):
        """What a probe behind the proxy says first of the broker's clock, read from the broker's subject."""
        self.addCleanup(proxy.listener.close)
        self.environment["LIFELINE_URL"] = f"nats://127.0.0.1:{proxy.port}"
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as reader:
            reader.sendall(b'CONNECT {"verbose":false,"headers":true}\r\nSUB lifeline.batches.* 1\r\nPING\r\n')
            stream = reader.makefile("rb")
            while stream.readline() != b"PONG\r\n":
                pass
            running = self.start("--sample", "clock", "--every", "100ms")
            (self.folder / "events.llb").write_bytes(b"")
            end = time.monotonic() + 120
            while not self.events("host.clock.broker"):
                self.assertLess(time.monotonic(), end)
                line = stream.readline()
                if line == b"PING\r\n":
                    reader.sendall(b"PONG\r\n")
                if line.startswith(b"HMSG"):
                    header, size = map(int, line.split()[-2:])
                    with open(self.folder / "events.llb", "ab") as file:
                        file.write(stream.read(size)[header:])
                    stream.readline()
            self.end(running)
        return self.events("host.clock.broker")[0]

    def test_the_offset_is_that_of_the_servers_clock_within_the_error(self):
        subprocess.run([BIN / "lifeline-setup"], env=self.setup, check=True, capture_output=True)
        for shift_s, delay_s in ((0, 0), (-7200, 0), (3600, 0.03)):
            with self.subTest(shift_s=shift_s, delay_s=delay_s):
                found = self.measured(Proxy(self.port, shift_s, delay_s))
                self.assertLessEqual(abs(found["offset"] + shift_s * 10**9), found["error"])
                self.assertLess(found["error"], 10**10)
                self.assertGreaterEqual(found["round_trip"], delay_s * 10**9)

    def test_a_server_that_is_away_gives_no_value_and_no_wait(self):
        proxy = Proxy(self.port)
        proxy.listener.close()
        self.environment |= {"LIFELINE_URL": f"nats://127.0.0.1:{proxy.port}", "LIFELINE_FLUSH_TIMEOUT_MS": "100"}
        self.probe("--sample", "clock,load", "--every", "50ms", "--count", 10, "--json", status=1)
        self.assertEqual(json.loads(self.out)["failures"], 0)


if __name__ == "__main__":
    unittest.main()
