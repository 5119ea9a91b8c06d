"""TCP_INFO of real connections, compared with what the programs at their ends know."""

import json
import os
import resource
import socket
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from probe_run import ProbeTest, finish, until

ID = "00112233445566778899aabbccddeeff"
HERE = Path(__file__).resolve().parent

# Sends what it is told to a server of its own: "N" bytes each; "close" closes.
PAIR = """
import socket, sys
family, address, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = socket.socket(family)
server.bind((address, 0))
server.listen(100)
pairs = []
for _ in range(count):
    client = socket.create_connection(server.getsockname()[:2])
    pairs.append((client, server.accept()[0]))
print(*[client.getsockname()[1] for client, _ in pairs[:1]], server.getsockname()[1], flush=True)
for line in sys.stdin:
    if line.strip() == "close":
        for client, accepted in pairs:
            client.close(), accepted.close()
        server.close()
    else:
        left = int(line)
        while left:
            left -= pairs[0][0].send(b"x" * min(left, 10000))
            got = pairs[0][1].recv(1 << 20)
    print("done", flush=True)
"""
RECEIVE = """
import socket
server = socket.create_server(("10.99.0.1", 0))
print(server.getsockname()[1], flush=True)
peer = server.accept()[0]
got = 0
while data := peer.recv(1 << 16):
    got += len(data)
print(got, flush=True)
"""
SEND = """
import select, socket, struct, sys, time
peer = socket.create_connection(("10.99.0.1", int(sys.argv[1])))
sent = 0
print("connected", flush=True)
while not select.select([sys.stdin], [], [], 0.002)[0]:
    sent += peer.send(b"x" * 4000)
while True:  # all is acknowledged
    info = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    if struct.unpack_from("I", info, 24)[0] == 0:
        break
    time.sleep(0.01)
print(sent, struct.unpack_from("I", info, 100)[0], flush=True)
peer.close()
sys.stdin.read()
"""


class Connections(ProbeTest):

    def pair(self, family=socket.AF_INET, address="127.0.0.1", count=1):
        child = self.child(PAIR, int(family), address, count)
        ports = child.stdout.readline().split()
        if not ports:
            self.skipTest(f"no connection to {address}")
        return child, *map(int, ports)

    def ask(self, child, line):
        child.stdin.write(f"{line}\n")
        child.stdin.flush()
        return child.stdout.readline()

    def looks(self, pid, state=None):
        return [e for e in self.events("tcp.info") if e["process"] == pid and state in (None, e["state"])]

    def test_bytes_are_those_that_were_sent_and_the_last_look_has_them_all(self):
        child, client, server = self.pair()
        running = self.start("--pid", child.pid, "--every", "50ms", "--sample", "tcp")
        until(lambda: self.looks(child.pid), "a sample")
        self.ask(child, 123456)
        until(lambda: any(e["sent"] - e["resent"] == 123456 for e in self.looks(child.pid)), "the bytes sent")
        until(lambda: any(e["received"] == 123456 for e in self.looks(child.pid)), "the bytes received")
        self.ask(child, 1000)
        self.ask(child, "close")
        status, _, err = self.end_when(running, lambda: len(self.looks(child.pid, "closed")) == 2, err_skips="CAP_NET_ADMIN")
        self.assertEqual(status, 0, err)
        last = {e["local"]: e for e in self.looks(child.pid, "closed")}
        sender, receiver = last[f"127.0.0.1:{client}"], last[f"127.0.0.1:{server}"]
        self.assertEqual((sender["sent"] - sender["resent"], sender["remote"]), (124456, f"127.0.0.1:{server}"))
        self.assertEqual(receiver["received"], 124456 + 1)  # FIN counts as one
        self.assertTrue(sender["resent"] == 0 or sender["retransmits"] > 0)  # it sends again if its acknowledgements are late
        first = self.looks(child.pid, "established")[0]
        self.assertGreater(first["window"], 0)
        self.assertNotEqual(first["congestion"], "")
        self.assertEqual(len({e["id"] for e in self.looks(child.pid)}), 2)
        [counted] = self.events("probe.connections")
        self.assertEqual((counted["opened"], counted["closed"], counted["last_looks"], counted["known"]), (2, 2, 2, 0))

    def end_when(self, running, condition, err_skips):
        """Ends the probe when the condition holds; skips the test if the probe has said that it is not permitted to."""
        end = time.monotonic() + 120
        while not condition() and time.monotonic() < end:
            time.sleep(0.05)
        status, out, err = self.end(running)
        if err_skips in err:
            self.skipTest(err.strip())
        self.assertTrue(condition(), err)
        return status, out, err

    def test_ipv6_connections_are_seen(self):
        child, client, server = self.pair(socket.AF_INET6, "::1")
        self.probe("--pid", child.pid, "--count", 2, "--every", "50ms", "--sample", "tcp")
        self.assertEqual({(e["local"], e["remote"]) for e in self.looks(child.pid)},
                         {(f"[::1]:{client}", f"[::1]:{server}"), (f"[::1]:{server}", f"[::1]:{client}")})

    def test_what_waits_in_queues_is_seen_at_both_ends(self):
        """A program that writes to a peer that does not read."""
        stuck = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
accepted = server.accept()[0]
client.setblocking(False)
sent = 0
try:
    while True:
        sent += client.send(b"x" * 65536)
except BlockingIOError:
    pass
print(sent, client.getsockname()[1], flush=True)
sys.stdin.read()
"""
        child = self.child(stuck)
        sent, port = map(int, child.stdout.readline().split())
        until(lambda: queue_is_still(child.pid, port), "the queues are full")
        self.probe("--pid", child.pid, "--count", 1, "--sample", "tcp")
        ends = {e["local"].endswith(f":{port}"): e for e in self.looks(child.pid)}
        self.assertEqual(ends[True]["queued"] + ends[False]["unread"], sent)
        self.assertLessEqual(ends[True]["unsent"], ends[True]["queued"])
        self.assertGreater(ends[True]["unsent"], 0)
        self.assertEqual(ends[False]["received"], ends[False]["unread"])

    def test_only_connections_of_chosen_processes_are_sampled(self):
        one, _, _ = self.pair()
        other, _, _ = self.pair()
        self.probe("--pid", one.pid, "--count", 2, "--every", "50ms", "--sample", "tcp")
        self.assertEqual({e["process"] for e in self.events("tcp.info")}, {one.pid})

    def test_a_session_has_its_connections_sampled_fast(self):
        child, _, _ = self.pair()
        running = self.start("--every", "30s", "--fast", "50ms", "--sample", "tcp")
        time.sleep(0.3)
        self.announce(ID, child.pid)
        until(lambda: len(self.looks(child.pid)) >= 20, "ten samples of two ends")
        self.assertEqual({e["session"] for e in self.looks(child.pid)}, {ID})
        self.assertEqual(self.end(running)[0], 0)

    def test_connections_that_were_known_before_belong_to_a_later_session(self):
        child, _, _ = self.pair()
        running = self.start("--pid", child.pid, "--every", "100ms", "--fast", "100ms", "--sample", "tcp")
        until(lambda: len(self.looks(child.pid)) >= 4, "samples without a session")
        self.announce(ID, child.pid)
        until(lambda: self.looks(child.pid)[-1]["session"] == ID, "the session")
        self.ask(child, "close")
        self.end_when(running, lambda: len(self.looks(child.pid, "closed")) == 2, err_skips="CAP_NET_ADMIN")
        self.assertEqual({e["session"] for e in self.looks(child.pid, "closed")}, {ID})
        self.assertEqual({e["session"] for e in self.looks(child.pid)}, {"", ID})

    def test_a_type_that_is_off_costs_no_look(self):
        child, _, _ = self.pair()
        self.environment["LIFELINE_RESOLUTION"] = "tcp.* off"
        self.probe("--pid", child.pid, "--count", 5, "--every", "50ms", "--sample", "tcp")
        self.assertEqual(self.events("tcp.info"), [])

    def test_thousands_of_connections_are_found_and_none_is_sampled_twice(self):
        count = 2000
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2 * count + 100:
            self.skipTest("the limit of open files is too small")
        many = PAIR.replace("import socket, sys\n", "import resource, socket, sys\n"
                            "most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
                            "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n")
        child = self.child(many, int(socket.AF_INET), "127.0.0.1", count)
        self.assertTrue(child.stdout.readline())
        self.probe("--pid", child.pid, "--count", 3, "--every", "300ms", "--sample", "tcp", "--json")
        self.assertEqual(json.loads(self.out)["connections"], 2 * count)
        looks = self.looks(child.pid)
        self.assertEqual(len({e["id"] for e in looks}), 2 * count)
        self.assertLessEqual(len(looks), 3 * 2 * count)

    def test_connections_follow_the_process_that_has_them(self):
        """A server that forks for each connection."""
        forking = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
accepted = server.accept()[0]
child = os.fork()
if child == 0:
    client.close(), server.close()
    sys.stdin.read()
    os._exit(0)
accepted.close()
print(child, accepted.fileno(), client.getsockname()[1], flush=True)
sys.stdin.read()
"""
        parent = self.child(forking)
        child, _, port = map(int, parent.stdout.readline().split())
        self.probe("--pid", parent.pid, "--count", 2, "--every", "50ms", "--sample", "tcp")
        self.assertEqual({(e["process"], e["local"].endswith(f":{port}")) for e in self.events("tcp.info")},
                         {(parent.pid, True), (child, False)})

    def test_a_user_without_rights_sees_the_connections_of_own_processes(self):
        powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
        child = self.child(PAIR, int(socket.AF_INET), "127.0.0.1", 1, prefix=powerless)
        child.stdout.readline()
        running = self.start("--pid", child.pid, "--every", "50ms", "--sample", "tcp", prefix=powerless)
        until(lambda: len({e["id"] for e in self.looks(child.pid)}) == 2, "both ends")
        self.ask(child, "close")
        self.end_when(running, lambda: len(self.looks(child.pid, "closed")) == 2, err_skips="CAP_NET_ADMIN")


@unittest.skipUnless(os.geteuid() == 0 and os.access("/dev/net/tun", os.W_OK), "needs root and /dev/net/tun")
class LossyLink(ProbeTest):

    def setUp(self):
        super().setUp()
        self.name = f"lltest{os.getpid()}"
        self.link = subprocess.Popen([sys.executable, HERE / "lossy_link.py", self.name], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.link.stdout.close)
        self.addCleanup(self.link.wait)
        self.addCleanup(self.link.stdin.close)
        if self.link.stdout.readline() != "ready\n":
            self.skipTest("no namespaces and links can be made")

    def inside(self, end, code, *arguments):
        running = subprocess.Popen(["ip", "netns", "exec", f"{self.name}-{end}", sys.executable, "-c", code,
                                    *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(finish, running)
        return running

    def loss(self, every):
        self.link.stdin.write(f"loss {every}\n")
        self.link.stdin.flush()

    def test_losses_are_seen_as_the_sender_sees_them_and_raise_the_rate(self):
        receiver = self.inside("a", RECEIVE)
        sender = self.inside("b", SEND, receiver.stdout.readline())
        self.assertEqual(sender.stdout.readline(), "connected\n")
        running = self.start("--pid", sender.pid, "--pid", receiver.pid, "--every", "500ms", "--sample", "tcp")

        def looks():
            return [e for e in self.events("tcp.info") if e["process"] == sender.pid]

        until(lambda: len(looks()) > 8 and looks()[-1]["sent"] > 100000, "samples before the loss")
        self.loss(5)
        anomalies = until(lambda: self.events("tcp.anomaly"), "an anomaly")
        self.assertEqual({e["process"] for e in anomalies}, {sender.pid})
        until(lambda: has_five_within(looks(), 1.5), "samples at a higher rate")
        self.loss(0)
        sender.stdin.write("\n")
        sender.stdin.flush()
        sent, retransmits = map(int, sender.stdout.readline().split())
        self.assertEqual(int(receiver.stdout.readline()), sent)
        until(lambda: any(e["state"] == "closed" for e in looks()), "the last look")
        [last] = [e for e in looks() if e["state"] == "closed"]
        self.assertEqual((last["sent"] - last["resent"], last["acked"]), (sent, sent + 2))  # SYN and FIN count one each
        self.assertGreaterEqual(last["retransmits"], retransmits)  # FIN may be sent again, too
        self.assertGreater(retransmits, 3)
        self.assertTrue(last["local"].startswith("10.99.0.2:"))
        self.assertGreater(sockets(running.pid), 2)
        finish(sender)
        finish(receiver)
        until(lambda: sockets(running.pid) == 2, "the namespaces are left")  # an open socket would keep them alive
        status, _, err = self.end(running)
        self.assertEqual(status, 0, err)

    def test_a_whole_probe_can_measure_another_namespace(self):
        receiver = self.inside("a", RECEIVE)
        receiver.stdout.readline()
        self.probe("--netns", f"{self.name}-a", "--count", 1, "--sample", "network")
        names = {e["interface"] for e in self.events("host.network")}
        self.assertTrue(any(name.startswith("lltest") for name in names), names)


def queue_is_still(pid, port):
    """The send queue in /proc/PID/net/tcp does not change any more."""
    def queue():
        for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
            words = line.split()
            if words[1].endswith(f":{port:04X}"):
                return words[4]
        return None

    before = queue()
    time.sleep(0.3)
    return queue() == before


def has_five_within(looks, seconds):
    """At the usual rate of 2 Hz, five samples take more than 1.5 s, even if the first is late."""
    ticks = [look["tick"] for look in looks]
    return any(last - first < seconds * 1e9 for first, last in zip(ticks, ticks[4:]))


def sockets(pid):
    """Open sockets of a process: for the probe's own namespace there are two."""
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            continue
    return sum(link.startswith("socket:") for link in links)


if __name__ == "__main__":
    unittest.main()
