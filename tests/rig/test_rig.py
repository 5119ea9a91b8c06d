"""The emulated link and the slow disk do to packets and requests what they say."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import rig  # noqa: E402

DATAGRAMS = Path(__file__).with_name("datagrams.py")


@unittest.skipIf(rig.lacking("emulated-link"), rig.lacking("emulated-link"))
class EmulatedLink(unittest.TestCase):
    tags = ("system",)

    def exchange(self, count, size, *wait, **options):
        """Sends datagrams to an echo; returns what `datagrams.py send` prints, and the link's report."""
        with rig.link(**options) as (left, right, running):
            echo = subprocess.Popen(rig.inside(right, sys.executable, DATAGRAMS, "echo"), stdout=subprocess.PIPE, text=True)
            try:
                self.assertEqual("listening\n", echo.stdout.readline())
                said = subprocess.run(rig.inside(left, sys.executable, DATAGRAMS, "send", str(count), str(size), *wait),
                                      check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            finally:
                echo.kill()
                echo.wait()
                echo.stdout.close()
        seconds, returned, shortest = said
        return float(seconds), int(returned), float(shortest), running.report

    def test_a_packet_takes_the_delay_in_both_directions(self):
        _, returned, shortest, _ = self.exchange(5, 20, "wait", delay=25)
        self.assertEqual(5, returned)
        self.assertGreaterEqual(shortest, 0.05)

    def test_packets_take_their_time_on_the_wire(self):
        """125 packets of 1,000 bytes, headers included, take a second at a megabit."""
        seconds, returned, _, _ = self.exchange(125, 1000 - 28, rate=1, queue=1000)
        self.assertEqual(125, returned)
        self.assertGreaterEqual(seconds, 1)

    def test_losses_and_full_queues_are_counted(self):
        _, returned, _, report = self.exchange(2000, 500, rate=100, loss=10, queue=100000)
        lost = sum(way["lost"] for way in report)
        self.assertEqual(2000, returned + lost)
        self.assertTrue(250 < lost < 550, lost)  # of 2,000 there and 1,800 back
        _, returned, _, report = self.exchange(200, 1000, rate=1, queue=20)
        full = sum(way["queue_full"] for way in report)
        self.assertEqual(200, returned + full)
        self.assertGreater(full, 100)

    def test_a_value_changes_while_it_runs(self):
        with rig.link() as (_, _, running):
            self.assertLess(abs(running.change("loss", 0.01) - time.time_ns()), 60_000_000_000)
            running.change("delay", 50)

    def test_mistakes_are_explained(self):
        for arguments, why in ((["one=10.0.0.1/8"], "two NAMESPACE=ADDRESS/BITS"), (["a=x/24", "b=y/24"], "/run/netns/a"),
                               (["--loss", "101", "a=x", "b=y"], "loss: '101' is not a number from 0 to 100")):
            ended = subprocess.run([rig.BIN / "emulated-link", *arguments], capture_output=True, text=True, check=False)
            self.assertIn(why, ended.stderr)
            self.assertIn(ended.returncode, (1, 2))


TRANSFER = """
import socket, sys
end = socket.create_server(("127.0.0.1", 7)) if sys.argv[1] == "in" else None
if end:
    print("listening", flush=True)
    end, _ = end.accept()
else:
    end = socket.create_connection(("127.0.0.1", 7))
    end.sendall(bytes(range(256)) * 4000)
data = b""
while got := end.recv(65536):
    data += got
    if sys.argv[1] == "in" and len(data) == 1024000:
        end.sendall(b"thanks")
        break
print(len(data), data == bytes(range(256)) * 4000 or data)
"""


@unittest.skipIf(rig.lacking("emulated-link", "udt-tunnel"), rig.lacking("emulated-link", "udt-tunnel"))
class UdtTunnel(unittest.TestCase):
    tags = ("system",)

    def test_it_carries_both_directions_across_a_link_that_loses(self):
        with rig.link(delay=10, loss=1) as (left, right, running), rig.udt(left, right, rig.RIGHT, 7):
            receiver = subprocess.Popen(rig.inside(right, sys.executable, "-c", TRANSFER, "in"), stdout=subprocess.PIPE, text=True)
            self.assertEqual("listening\n", receiver.stdout.readline())
            sender = subprocess.run(rig.inside(left, sys.executable, "-c", TRANSFER, "out"), stdout=subprocess.PIPE, text=True,
                                    check=True)
            said, _ = receiver.communicate(timeout=60)
        self.assertEqual("1024000 True\n", said)
        self.assertEqual("6 b'thanks'\n", sender.stdout)
        self.assertGreater(running.report[0]["packets"], 700)  # of 1,456 bytes each


@unittest.skipIf(rig.lacking("slow-disk"), rig.lacking("slow-disk"))
class SlowDisk(unittest.TestCase):
    tags = ("system",)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.below, self.mount = Path(folder.name, "below"), Path(folder.name, "mount")
        self.below.mkdir()
        self.mount.mkdir()

    def test_reads_and_writes_take_the_disks_time(self):
        data = os.urandom(1_000_000)
        with rig.slow_disk(self.below, self.mount, read=2, write=1) as running:
            began = time.monotonic()
            (self.mount / "file").write_bytes(data)
            written = time.monotonic()
            self.assertEqual(data, (self.mount / "file").read_bytes())
            read = time.monotonic()
        self.assertGreaterEqual(written - began, 1)
        self.assertGreaterEqual(read - written, 0.5)
        self.assertEqual([{"read_bytes": 1_000_000, "write_bytes": 1_000_000}], running.report)
        self.assertEqual(data, (self.below / "file").read_bytes())
        self.assertFalse(self.mount.is_mount())

    def test_a_cache_hides_the_disk_until_a_sync(self):
        with rig.slow_disk(self.below, self.mount, "--cached", write=1):
            with open(self.mount / "file", "wb", buffering=0) as file:
                began = time.monotonic()
                file.write(bytes(500_000))
                cached = time.monotonic() - began
                os.fsync(file.fileno())
                synced = time.monotonic() - began
        self.assertGreaterEqual(synced - cached, 0.5)  # the sync took the disk's time, so the write did not

    def test_it_is_a_filesystem(self):
        with rig.slow_disk(self.below, self.mount):
            (self.mount / "folder").mkdir()
            (self.mount / "folder/a").write_text("text")
            (self.mount / "folder/a").rename(self.mount / "folder/b")
            (self.mount / "folder/c").symlink_to("b")
            self.assertEqual("text", (self.mount / "folder/c").read_text())
            (self.mount / "folder/b").chmod(0o640)
            self.assertEqual(0o640, (self.below / "folder/b").stat().st_mode & 0o777)
            os.truncate(self.mount / "folder/b", 2)
            with open(self.mount / "folder/b", "a") as file:
                file.write("xt")
            self.assertEqual("text", (self.below / "folder/b").read_text())
            (self.mount / "folder/c").unlink()
            (self.mount / "folder/b").unlink()
            (self.mount / "folder").rmdir()
            self.assertEqual([], list(self.mount.iterdir()))
            with self.assertRaises(FileNotFoundError):
                (self.mount / "gone").read_bytes()


if __name__ == "__main__":
    unittest.main()
