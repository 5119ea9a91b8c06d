"""scripts/broker, with the real servers."""

import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BROKER = Path(__file__).resolve().parents[1] / "broker"


def broker(*arguments):
    return subprocess.run([BROKER, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def environment(folder):
    lines = (Path(folder) / "broker.env").read_text().splitlines()
    return dict(shlex.split(line)[0].split("=", 1) for line in lines)


def port_of(url):
    return int(url.rsplit(":", 1)[1])


# The first thread ends at once, as far as /proc tells, while a second one goes on until it is killed.
WITHOUT_ITS_FIRST_THREAD = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


class ProcessTest(unittest.TestCase):
    tags = {"system"}

    def test_a_process_is_there_until_its_last_thread_has_ended(self):
        process = subprocess.Popen(["python3", "-c", WITHOUT_ITS_FIRST_THREAD])
        self.addCleanup(process.kill)
        stat = Path(f"/proc/{process.pid}/stat")
        while not (fields := stat.read_text().rpartition(") ")[2].split())[0].startswith("Z"):
            time.sleep(0.01)
        script = f"source {shlex.quote(str(BROKER.parent))}/lib/process.sh; process_is_alive {process.pid} {fields[19]}"
        self.assertEqual(0, subprocess.run(["bash", "-c", script]).returncode)
        process.kill()
        while stat.read_text().rpartition(") ")[2].split()[17] != "1":
            time.sleep(0.01)
        self.assertEqual(1, subprocess.run(["bash", "-c", script]).returncode)
        process.wait()


class BrokerTest(unittest.TestCase):
    tags = {"system"}

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "a broker"
        self.addCleanup(broker, "stop", "--dir", self.folder)

    def start(self, *arguments):
        result = broker("start", *arguments, "--dir", self.folder)
        self.assertEqual(0, result.returncode, result.stderr)
        return result.stdout.strip()

    def test_start_prints_the_url_of_a_server_that_listens_on_loopback(self):
        for kind in ("nats", "kafka"):
            with self.subTest(kind):
                folder = self.folder / kind
                result = broker("start", kind, "--dir", folder)
                self.addCleanup(broker, "stop", "--dir", folder)
                self.assertRegex(result.stdout, rf"^{kind}://127\.0\.0\.1:\d+\n$")
                socket.create_connection(("127.0.0.1", port_of(result.stdout)), 1).close()
                self.assertEqual(0, broker("stop", "--dir", folder).returncode)
                with self.assertRaises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port_of(result.stdout)), 1)

    def test_a_killed_broker_comes_back_on_its_port(self):
        url = self.start("nats")
        self.assertEqual(0, broker("kill", "--dir", self.folder).returncode)
        self.assertEqual(1, broker("status", "--dir", self.folder).returncode)
        self.assertEqual(url, self.start("nats"))

    def test_a_paused_broker_answers_nothing_until_it_is_resumed(self):
        port = port_of(self.start("nats"))
        for _ in range(20):
            self.assertEqual(0, broker("pause", "--dir", self.folder).returncode)
            with socket.create_connection(("127.0.0.1", port), 1) as client:
                client.settimeout(0.05)
                with self.assertRaises(TimeoutError):
                    client.recv(1)
                self.assertEqual(0, broker("resume", "--dir", self.folder).returncode)
                client.settimeout(60)
                self.assertEqual(b"I", client.recv(1))  # of INFO
        broker("stop", "--dir", self.folder)
        self.assertIn("no broker runs in", broker("pause", "--dir", self.folder).stderr)

    def test_a_port_that_a_stranger_holds_is_an_error_that_says_so(self):
        with socket.create_server(("127.0.0.1", 0)) as stranger:
            port = stranger.getsockname()[1]
            result = broker("start", "nats", "--dir", self.folder, "--port", port)
        self.assertEqual(1, result.returncode)
        self.assertIn(f"port {port} is taken by another process", result.stderr)

    def test_a_broker_ends_with_its_owner_even_when_the_owner_is_killed(self):
        owner = subprocess.Popen(["sleep", "600"])
        self.start("nats", "--owner", owner.pid)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        deadline = time.monotonic() + 60
        while broker("status", "--dir", self.folder).returncode == 0:
            self.assertLess(time.monotonic(), deadline, "the broker outlived its owner")
            time.sleep(0.2)

    def test_a_broker_ends_with_an_owner_whose_process_group_is_killed_during_the_start(self):
        owner = subprocess.Popen(["bash", "-c", f"{shlex.quote(str(BROKER))} start kafka --dir {shlex.quote(str(self.folder))} --owner $$"],
                                 start_new_session=True, stdout=subprocess.DEVNULL)
        process = self.folder / "process"
        deadline = time.monotonic() + 60
        while not process.exists() or not process.read_text().endswith("\n"):
            self.assertLess(time.monotonic(), deadline, "nothing was started")
            time.sleep(0.02)
        os.killpg(owner.pid, signal.SIGKILL)
        owner.wait()
        server = Path("/proc", process.read_text().split()[0])
        while server.exists() and "kafka" in (server / "cmdline").read_text():
            self.assertLess(time.monotonic(), deadline + 60, "the broker outlived its owner")
            time.sleep(0.2)

    def test_tls_and_users_leave_secrets_in_private_files_only(self):
        self.start("nats", "--tls", "--auth")
        settings = environment(self.folder)
        for name in ("LIFELINE_PASSWORD_FILE", "LIFELINE_EMITTER_PASSWORD_FILE"):
            path = Path(settings[name])
            self.assertEqual(0o600, path.stat().st_mode & 0o777)
            secret = path.read_text().strip()
            self.assertNotIn(secret, (self.folder / "broker.log").read_text())
            self.assertNotIn(secret.encode(), Path(f"/proc/{settings['LIFELINE_BROKER_PID']}/cmdline").read_bytes())
        self.assertTrue(os.path.exists(settings["LIFELINE_TLS_CA"]))

    def test_a_folder_keeps_to_its_kind_of_broker(self):
        self.start("nats")
        broker("stop", "--dir", self.folder)
        result = broker("start", "kafka", "--dir", self.folder)
        self.assertEqual(1, result.returncode)
        self.assertIn("belongs to a nats broker", result.stderr)

    def test_a_wrong_command_line_ends_with_exit_code_2(self):
        for arguments in ((), ("start",), ("start", "rabbit", "--dir", "x"), ("stop",), ("start", "nats", "--port", "x")):
            with self.subTest(arguments):
                self.assertEqual(2, broker(*arguments).returncode)


if __name__ == "__main__":
    unittest.main()
