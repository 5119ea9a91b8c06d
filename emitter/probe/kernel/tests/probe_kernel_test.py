"""Kernel events of real processes whose behaviour is known, by each of the sources that this machine allows.

The verdicts are about the probe, not about the machine: on a busy virtual one a CPU stands still for a while at any instant,
threads wait for seconds, and some switches reach no tracer, which the probe counts in kernel.lost. So values are compared with
those that the kernel itself gives to the process."""

import ctypes
import errno
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from probe_run import BIN, ProbeTest, until, without_late

# Prints how often it gave up its CPU meanwhile. That is less than a hundred times where a sleep was over before the switch.
SLEEPER = """
import sys, time
def waits():
    return int(open("/proc/self/status").read().split("\\nvoluntary_ctxt_switches:")[1].split()[0])
print("ready", flush=True)
sys.stdin.readline()
before = waits()
for i in range(100):
    time.sleep(0.01)
print(waits() - before, flush=True)
sys.stdin.readline()
"""

SPINNERS = """
import os, sys
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
child = os.fork()
def delay(pid):
    return int(open(f"/proc/{pid}/schedstat").read().split()[1])
if child == 0:
    while True:
        pass
print(child, flush=True)
sys.stdin.readline()
import time
before = delay(os.getpid()), delay(child)
end = time.monotonic() + 1
while time.monotonic() < end:
    pass
os.kill(child, 19)
print(delay(os.getpid()) - before[0], delay(child) - before[1], flush=True)
sys.stdin.readline()
os.kill(child, 9)
"""

DIRECT = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
block = mmap.mmap(-1, 65536)
def from_disk():
    return int(open("/proc/self/io").read().split("read_bytes: ")[1].split()[0])
print("ready", flush=True)
sys.stdin.readline()
before = from_disk()
for i in range(100):
    os.preadv(file, [block], i * 65536)
print(from_disk() - before, flush=True)
sys.stdin.readline()
"""

DIRECT_FOR_EVER = """
import mmap, os, sys, threading
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
block = mmap.mmap(-1, 65536)
def read():
    while True:
        os.preadv(file, [block], 0)
threading.Thread(target=read, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""

SOCKETS = """
import select, socket, sys, time
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
print("ready", flush=True)
sys.stdin.readline()
ours = socket.create_connection(listening.getsockname())
theirs, _ = listening.accept()
for i in range(20):
    theirs.send(b"x" * 1000)
    select.select([ours], [], []) # a busy kernel may deliver it later
    ours.recvmsg_into([]) # 0 bytes: neither this nor an empty error queue says anything about the data
    try:
        ours.recv(1, socket.MSG_ERRQUEUE)
    except BlockingIOError:
        pass
    time.sleep(0.01)
    ours.recv(10000)
for i in range(10):
    select.poll().poll(30)
print("done", flush=True)
sys.stdin.readline()
"""

SHORT_SOCKETS = """
import socket, sys
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
print("ready", flush=True)
sys.stdin.readline()
for i in range(100):
    with socket.create_connection(listening.getsockname()) as ours, listening.accept()[0] as theirs:
        ours.send(b"x") # the socket is known from now on
        theirs.send(b"never read")
    with socket.create_connection(listening.getsockname()) as ours, listening.accept()[0] as theirs:
        theirs.send(b"x")
        ours.recv(1)
with socket.create_connection(listening.getsockname()) as ours, listening.accept()[0] as theirs:
    ours.send(b"x")
    theirs.send(b"y")
    ours.recv(1)
print("done", flush=True)
sys.stdin.readline()
"""

FORKS = """
import os, subprocess, sys
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
subprocess.run(["sleep", "0.3"])
print("done", flush=True)
sys.stdin.readline()
"""

# A shell forks in a tenth of Python's time.
MANY_FORKS = """
import subprocess, sys
print("ready", flush=True)
sys.stdin.readline()
subprocess.run(["sh", "-c", "i=0; while [ $i -lt $0 ]; do (exit) ; i=$((i+1)); done", sys.argv[1]])
print("done", flush=True)
sys.stdin.readline()
"""

SAME_PID = """
import os, sys, time
def write_ten(wanted):
    child = os.fork()
    if child == 0:
        if wanted in (0, os.getpid()):
            for i in range(10):
                os.write(1, b"")
        os._exit(0)
    os.waitpid(child, 0)
    return child
print("ready", flush=True)
sys.stdin.readline()
first = write_ten(0)
time.sleep(1) # several samples: nothing is left of it
for i in range(1000):
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(first - 1))
    if write_ten(first) == first:
        print(first, flush=True)
        break
else:
    print(0, flush=True)
sys.stdin.readline()
"""

# In a pid namespace of its own.
REUSE = """
import os, subprocess, sys
first = subprocess.Popen(["sleep", "600"])
probe = subprocess.Popen([sys.argv[1], "--pid", str(os.getpid()), "--every", "1s", "--sample", "process", "--kernel", "offcpu",
                          "--kernel-source", "proc"], stdout=subprocess.DEVNULL)
print(first.pid, flush=True)
sys.stdin.readline()
first.kill()
first.wait()
with open("/proc/sys/kernel/ns_last_pid", "w") as last:
    last.write(str(first.pid - 1))
second = subprocess.Popen([sys.executable, "-c", "import time\\nwhile True: time.sleep(0.01)"])
print(second.pid, flush=True)
sys.stdin.readline()
probe.terminate()
probe.wait()
second.kill()
"""

GO = """package main

import ("fmt"; "os")

func main() {
  var line string
  fmt.Scanln(&line)
  file, _ := os.OpenFile(os.Args[1], os.O_RDWR|os.O_CREATE, 0600)
  block := make([]byte, 8192)
  for i := 0; i < 200; i++ { file.WriteAt(block, int64(i)*8192) }
  for i := 0; i < 200; i++ { file.ReadAt(block, int64(i)*8192) }
  fmt.Println("done")
  fmt.Scanln(&line)
}
"""

def without(*capabilities):
    return ["setpriv", "--inh-caps=-all", "--bounding-set=" + ",".join(f"-{name}" for name in capabilities)]


def program_exists(program):
    """Asks the kernel for the eBPF program of this id."""
    numbers = {"x86_64": 321, "aarch64": 280}
    attributes = (ctypes.c_uint32 * 30)(program)
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(numbers[os.uname().machine], 13, attributes, ctypes.sizeof(attributes))
    if file < 0:
        if ctypes.get_errno() != errno.ENOENT:
            raise OSError(ctypes.get_errno(), "BPF_PROG_GET_FD_BY_ID")
        return False
    os.close(file)
    return True


def total(events, field="count"):
    return sum(event[field] for event in events)


def measured_anew(test):
    """For amounts of which nobody knows how much a busy machine hides from all tracers: it spoils a round now and then. A
    probe that measures wrongly spoils all of them."""
    @functools.wraps(test)
    def rounds(self):
        for _ in range(3):
            try:
                return test(self)
            except AssertionError:
                for old in self.folder.glob("*.llb"):
                    old.unlink()
        return test(self)
    return rounds


class KernelTest(ProbeTest):
    """A probe watches a child, which does its work when it is told to."""

    def setUp(self):
        super().setUp()
        self.environment |= {"LIFELINE_POLICY": "block", "LIFELINE_BLOCK_TIMEOUT_MS": "60000"} # no event is lost on its way here

    def refusal(self, source):
        """Why this source cannot be used here; empty if it can."""
        running = self.start("--kernel", "sched", "--kernel-source", source, "--sample", "load", "--count", 1)
        _, err = running.communicate(timeout=300)
        self.assertIn(running.returncode, (0, 1), err)
        return err.strip() if running.returncode != 0 else ""

    def need(self, source):
        refused = self.refusal(source)
        if refused:
            self.skipTest(refused)

    def watch(self, child, *arguments, views="sched,offcpu", source="ebpf", prefix=(), **more):
        """Starts a probe, and returns when it watches the child. Single events are switched on with the first sample of the
        kernel, which comes after that of processes: then a second one tells that they are."""
        samples = 2 if "LIFELINE_RESOLUTION" in self.environment else 1
        probe = self.start("--pid", child.pid, "--sample", "process", "--kernel", views, "--kernel-source", source,
                           *(arguments or ["--every", "100ms"]), prefix=prefix, **more)
        until(lambda: probe.poll() is not None or len(self.events("host.process")) >= samples, "the child is watched")
        self.assertIsNone(probe.poll(), probe.poll() is not None and probe.communicate())
        return probe

    def work(self, child):
        child.stdin.write("\n")
        child.stdin.flush()
        return child.stdout.readline()

    def ready(self, code, *arguments):
        child = self.child(code, *arguments)
        child.first = child.stdout.readline()
        return child

    def asleep(self, child):
        """Waits until it has nothing left to do but to read its next line, so that no switch comes between the last looks."""
        tasks = Path(f"/proc/{child.pid}/task/{child.pid}")
        until(lambda: not (tasks / "children").read_text() and (tasks / "stat").read_text().rpartition(") ")[2][0] == "S", "sleep")

    def lost(self, field):
        return max((event[field] for event in self.events("kernel.lost")), default=0)

    def check_seen(self, events, waits):
        """Of the waits that the kernel counted, those whose end no tracer saw are counted; a beginning that none saw is not."""
        self.assertGreaterEqual(total(events) + self.lost("values"), 0.9 * waits)

    def of(self, child, *names, **fields):
        return [event for event in self.events(*names) if event["process"] == child.pid
                and all(event[name] == value for name, value in fields.items())]


class Sleep(KernelTest):
    """A thread that sleeps 10 ms a hundred times."""

    def measure(self, source, prefix=()):
        child = self.ready(SLEEPER)
        probe = self.watch(child, source=source, prefix=prefix)
        child.waits = int(self.work(child))
        status, _, err = self.end(probe)
        self.assertEqual(status, 0, err)
        return child, err

    def check_totals(self, child, source):
        waits = self.of(child, "kernel.offcpu", source=source)
        self.check_seen(waits, child.waits)
        self.assertGreaterEqual(total(waits, "sum"), 5_000_000 * total(waits)) # 10 ms each, but for those that began late
        self.check_seen(self.of(child, "kernel.runqueue", source=source), child.waits)

    def test_ebpf_knows_that_it_sleeps_how_often_and_how_long(self):
        self.need("ebpf")
        child, err = self.measure("ebpf")
        self.assertEqual([line for line in err.splitlines() if "came too late" not in line], []) # as on a busy machine
        sleeps = self.of(child, "kernel.offcpu", reason="sleep")
        self.assertLessEqual(total(sleeps), 100)
        self.check_seen(sleeps, child.waits)
        buckets = [tuple(map(int, bucket.split(":"))) for event in sleeps for bucket in event["histogram"].split()]
        self.assertEqual(sum(count for _, count in buckets), total(sleeps))
        whole = sum(count for bound, count in buckets if bound >= 1 << 23) # the others began late: the CPU stood still before
        self.assertGreaterEqual(whole, 0.8 * total(sleeps))
        self.check_totals(child, "ebpf")
        self.assertEqual(self.events("kernel.switch"), [])

    def test_proc_knows_how_often_and_how_long(self):
        child, _ = self.measure("proc")
        self.check_totals(child, "proc")
        self.assertTrue(all(event["histogram"] == "" for event in self.of(child, "kernel.offcpu", "kernel.runqueue")))

    @unittest.skipUnless(os.geteuid() == 0, "only root can choose the next pid")
    def test_proc_tells_a_process_from_an_earlier_one_with_its_number(self):
        parent = self.child(REUSE, BIN / "lifeline-probe", prefix=["unshare", "-pf", "--mount-proc"], env=self.environment)
        first = parent.stdout.readline()
        if not first:
            self.skipTest("no pid namespace of its own")

        def names(type):
            return {e["name"] for e in self.events(type) if e["process"] == int(first)}

        until(lambda: names("host.process"), "the first process is watched")
        if self.work(parent) != first:
            self.skipTest("the number is not used again")
        until(lambda: names("kernel.offcpu") - {"sleep"}, "the waits of the second process")

    def test_without_the_rights_for_ebpf_proc_is_used_and_a_line_says_why_and_what_is_missing(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give up rights here")
        child = self.ready(SLEEPER)
        probe = self.watch(child, views="sched,offcpu,block", source="ebpf,proc",
                           prefix=without("bpf", "sys_admin", "perfmon"))
        child.waits = int(self.work(child))
        _, _, err = self.end(probe)
        self.assertRegex(err, "kernel events come from proc, without block: ebpf: .*CAP_BPF")
        self.check_totals(child, "proc")

    def test_no_source_at_all_is_an_error(self):
        err = self.probe("--kernel", "block", "--kernel-source", "proc", "--count", 1, status=1)
        self.assertIn("there are no kernel events", err)


class Measured(KernelTest):

    def setUp(self):
        super().setUp()
        self.need("ebpf")

    @measured_anew
    def test_waiting_for_a_cpu_is_as_long_as_the_scheduler_says(self):
        child = self.ready(SPINNERS)
        other = int(child.first)
        probe = self.watch(child)
        delays = [int(word) for word in self.work(child).split()]
        self.assertEqual(self.end(probe)[0], 0)
        waits = [e for e in self.events("kernel.runqueue") if e["process"] in (child.pid, other)]
        measured = total(waits, "sum")
        self.assertGreater(measured, 0.8 * sum(delays)) # which it measures a little longer: from before to after
        preempted = [e for e in waits if e["after"] == "preemption"]
        self.assertGreater(total(preempted, "sum"), 0.5 * sum(delays))

    def read_bytes(self, child):
        """As the kernel accounts it to the process; it may read its own pages, too, from its start to its end."""
        return int(re.search(r"^read_bytes: (\d+)", Path(f"/proc/{child.pid}/io").read_text(), re.M)[1])

    @measured_anew
    def test_direct_io_is_counted_request_by_request(self):
        path = self.folder / "direct"
        write = ["dd", "if=/dev/zero", f"of={path}", "bs=64k", "count=100", "oflag=direct", "status=none"]
        if subprocess.run(write, stderr=subprocess.DEVNULL, check=False).returncode != 0 or not on_a_disk(path):
            self.skipTest(f"{path} is not on a disk that takes direct I/O")
        child = self.ready(DIRECT, path)
        before = self.read_bytes(child)
        probe = self.watch(child, views="offcpu,block")
        nbytes = int(self.work(child))
        self.end(probe)
        reads = self.of(child, "kernel.block", operation="read")
        self.assertGreaterEqual(nbytes, 90 * 65536)
        self.assertLessEqual(total(reads, "nbytes"), self.read_bytes(child) - before)
        self.assertGreaterEqual(total(reads, "nbytes") + 65536 * self.lost("requests"), 0.9 * nbytes)
        self.assertGreaterEqual(total(reads), 50)
        self.assertEqual(total(reads, "errors"), 0)
        self.assertGreater(total(self.of(child, "kernel.offcpu", reason="disk"), "sum"), 0)

    def test_requests_of_others_are_not_attributed_to_who_hands_them_to_the_disk(self):
        path = self.folder / "direct"
        write = ["dd", "if=/dev/zero", f"of={path}", "bs=64k", "count=100", "oflag=direct", "status=none"]
        if subprocess.run(write, stderr=subprocess.DEVNULL, check=False).returncode != 0 or not on_a_disk(path):
            self.skipTest(f"{path} is not on a disk that takes direct I/O")
        for _ in range(4):
            self.ready(DIRECT_FOR_EVER, path)
        child = self.ready(DIRECT, path)
        before = self.read_bytes(child)
        probe = self.watch(child, views="block")
        self.work(child)
        self.end(probe)
        seen = total(self.of(child, "kernel.block", operation="read"), "nbytes")
        self.assertLessEqual(seen, self.read_bytes(child) - before)
        if seen == 0:
            self.skipTest("no request of the child was seen, so that this shows nothing")

    def test_data_that_waits_in_a_socket_is_noticed(self):
        child = self.ready(SOCKETS)
        probe = self.watch(child, views="offcpu,net")
        self.work(child)
        _, _, err = self.end(probe)
        if "without net" in err:
            self.skipTest(err)
        waits = self.of(child, "kernel.receive")
        self.assertGreaterEqual(total(waits), 18) # the first ones make the socket known
        self.assertGreaterEqual(total(waits, "sum"), 18 * 10_000_000)
        self.assertGreaterEqual(total(waits, "nbytes"), 18_000)
        waited = total(self.of(child, "kernel.offcpu", reason="poll"), "sum")
        self.assertGreaterEqual(waited + 30_000_000 * self.lost("values"), 150_000_000) # half: the CPU may stand still before

    def test_a_socket_inherits_nothing_from_an_earlier_one_at_its_address(self):
        child = self.ready(SHORT_SOCKETS)
        probe = self.watch(child, views="offcpu,net")
        self.work(child)
        _, _, err = self.end(probe)
        if "without net" in err:
            self.skipTest(err)
        # Of the others each is read once, which makes it known; the last one is known before, by what it sends.
        self.assertEqual(total(self.of(child, "kernel.receive")), 1)

    def test_a_segment_that_is_sent_again_is_counted(self):
        if os.geteuid() != 0 or shutil.which("ip") is None:
            self.skipTest("needs root and ip to make a network that loses everything")
        code = """
import socket, subprocess, sys
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
ours = socket.create_connection(listening.getsockname())
theirs, _ = listening.accept()
ours.send(b"x")
print(ours.getsockname()[1], flush=True)
sys.stdin.readline()
ours.send(b"x")
subprocess.run(["ip", "link", "set", "lo", "down"], check=True)
ours.send(b"y" * 1000)
print("done", flush=True)
sys.stdin.readline()
"""
        child = self.child(code, prefix=["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"])
        port = int(child.stdout.readline())
        self.environment["LIFELINE_RESOLUTION"] = "kernel.segment full"
        probe = self.watch(child, views="offcpu,net")
        self.work(child)
        until(lambda: self.of(child, "kernel.retransmit"), "a segment that is sent again") # when depends on the time of the first
        self.end(probe)
        segments = total(self.of(child, "kernel.retransmit"))
        singles = self.of(child, "kernel.segment")
        self.assertIn(segments - len(singles), (0, 1)) # the last one may come between the last look at these and that at the sums
        self.assertEqual(singles[0]["local"], f"127.0.0.1:{port}")

    def test_single_events_are_those_that_were_added_up(self):
        child = self.ready(SLEEPER)
        self.environment["LIFELINE_RESOLUTION"] = "kernel.switch full"
        began = time.time_ns()
        probe = self.watch(child)
        self.work(child)
        self.asleep(child)
        self.end(probe)
        self.assertEqual(self.lost("singles"), 0) # they are a hundredth of what there is room for
        singles = self.of(child, "kernel.switch")
        self.assertEqual(len(singles), total(self.of(child, "kernel.runqueue")))
        self.assertEqual(sum(e["ready"] for e in singles), total(self.of(child, "kernel.runqueue"), "sum"))
        self.assertEqual(sum(e["blocked"] for e in singles), total(self.of(child, "kernel.offcpu"), "sum"))
        self.assertTrue(all(began < e["at"] < time.time_ns() for e in singles))
        self.assertEqual({e["thread"] for e in singles}, {child.pid})

    def test_single_events_for_which_there_was_no_room_are_counted(self):
        busy = subprocess.Popen(["sh", "-c", f"while read x; do {BIN / 'pingpong'} futex 0.5 50000; done"], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for end in (busy.stdout.close, busy.stdin.close, busy.wait, busy.kill):
            self.addCleanup(end)
        self.environment["LIFELINE_RESOLUTION"] = "kernel.switch full"
        probe = self.watch(busy)
        probe.send_signal(signal.SIGSTOP)
        switches = 0
        while switches < 20_000: # twice what there is room for, however little of the CPU they get
            switches += int(self.work(busy).split()[0])
        self.asleep(busy) # threads on their way out are switched, too, after their process is read for the last time
        probe.send_signal(signal.SIGCONT)
        status, out, err = self.end(probe)
        self.assertEqual(status, 0, err)
        lost = self.lost("singles")
        self.assertGreater(lost, 0)
        self.assertEqual(len(self.events("kernel.switch")) + lost, total(self.events("kernel.runqueue")), "wrong books")

    def test_minimum_and_maximum_agree_with_the_histogram(self):
        busy = subprocess.Popen(["sh", "-c", f"read x; {BIN / 'pingpong'} futex 1 100000; read x"], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for end in (busy.stdout.close, busy.stdin.close, busy.wait, busy.kill):
            self.addCleanup(end)
        probe = self.watch(busy, "--every", "10ms")
        self.work(busy)
        self.assertEqual(self.end(probe)[0], 0)
        found = self.events("kernel.runqueue", "kernel.offcpu")
        self.assertGreater(total(found), 100)
        for event in found:
            buckets = [bucket.split(":") for bucket in event["histogram"].split()]
            bounds = [int(bound) for bound, _ in buckets]
            self.assertEqual(sum(int(count) for _, count in buckets), event["count"], event)
            self.assertLessEqual(bounds[0], event["min"], event)
            self.assertLess(event["min"], 2 * max(bounds[0], 1), event)
            self.assertLessEqual(bounds[-1], event["max"], event)
            self.assertLess(event["max"], 2 * max(bounds[-1], 1), event)

    @measured_anew
    def test_children_are_measured_and_have_their_parents_session(self):
        child = self.ready(FORKS, 20)
        id = "0123456789abcdef" * 2
        self.announce(id, child.pid)
        probe = self.watch(child)
        until(lambda: any(e["session"] == id for e in self.events("host.process")), "the session is open")
        self.work(child)
        self.end(probe)
        sleeps = [e for e in self.events("kernel.offcpu") if e["name"] == "sleep" and e["reason"] == "sleep"]
        self.assertGreaterEqual(total(sleeps, "sum"), 200_000_000) # of 300 ms; a little less if the CPU stood still before
        self.assertEqual({e["session"] for e in sleeps}, {id})
        self.assertEqual({e["session"] for e in self.of(child, "kernel.offcpu", reason="child")}, {id})

    def test_too_many_processes_are_counted(self):
        child = self.ready(MANY_FORKS, 5000)
        probe = self.watch(child, "--every", "100ms", "--slow", "1h")
        probe.send_signal(signal.SIGSTOP) # nothing is read, so that nothing makes room
        self.work(child)
        probe.send_signal(signal.SIGCONT)
        self.assertEqual(self.end(probe)[0], 0)
        lost = self.events("kernel.lost")[-1]
        self.assertGreater(lost["processes"] + lost["values"], 0)

    def test_a_killed_probe_leaves_no_program_behind(self):
        child = self.ready(SLEEPER)
        probe = self.watch(child)
        ids = [int(number) for file in Path(f"/proc/{probe.pid}/fdinfo").iterdir()
               for number in re.findall(r"^prog_id:\s*(\d+)", file.read_text(), re.M)]
        self.assertGreater(len(ids), 3)
        self.assertTrue(program_exists(ids[0]))
        self.end(probe, signal.SIGKILL)
        until(lambda: not any(program_exists(id) for id in ids), "the kernel frees the programs")
        self.work(child)

    def test_a_process_that_ends_is_reported_to_the_end(self):
        child = self.ready(SLEEPER)
        probe = self.watch(child, "--every", "2s")
        waits = int(self.work(child))
        self.work(child)
        child.wait()
        until(lambda: total(self.of(child, "kernel.offcpu", reason="sleep")) + self.lost("values") >= 0.9 * waits, "the last values")
        self.assertEqual(self.end(probe)[0], 0)


class Calls(KernelTest):
    """System calls of programs that no preloaded library sees."""

    def setUp(self):
        super().setUp()
        self.need("ebpf")

    def run_program(self, *command):
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for end in (program.stdout.close, program.stdin.close, program.wait, program.kill):
            self.addCleanup(end)
        probe = self.watch(program, views="syscalls")
        self.assertEqual(self.work(program), "done\n")
        status, _, err = self.end(probe)
        self.assertEqual((status, without_late(err)), (0, ""))
        return program

    def check(self, program, operation, count, nbytes, errors=0):
        calls = self.of(program, "kernel.syscall", operation=operation)
        self.assertEqual((total(calls), total(calls, "nbytes"), total(calls, "errors")), (count, nbytes, errors))

    def test_of_a_static_program_each_is_counted(self):
        program = self.run_program(BIN / "static-io", self.folder / "file")
        self.check(program, "disk.write", 1000, 4096000)
        self.check(program, "disk.read", 1000, 4096000)
        self.check(program, "disk.sync", 1, 0)
        self.check(program, "local.receive", 1, 100, errors=10)
        self.check(program, "local.send", 1, 100)
        summaries = self.summaries("disk.read")
        self.assertEqual({e["field"] for e in summaries}, {"value", "duration", "rate"})
        self.assertEqual(sum(e["sum"] for e in summaries if e["field"] == "value"), 4096000)
        self.assertEqual({e["variance"] for e in summaries if e["field"] == "value"}, {0})

    @unittest.skipUnless(os.geteuid() == 0, "only root can choose the next pid")
    def test_a_thread_with_the_number_of_an_earlier_one_is_measured(self):
        parent = self.ready(SAME_PID)
        probe = self.watch(parent, views="syscalls")
        pid = int(self.work(parent))
        self.end(probe)
        if pid == 0:
            self.skipTest("the number is not used again")
        calls = [e for e in self.events("kernel.syscall") if e["process"] == pid and e["operation"] == "pipe.write"]
        self.assertEqual(total(calls), 20)

    def summaries(self, operation):
        """lifeline.summary has a field named like the key that events() uses for the type's name."""
        cat = subprocess.run([BIN / "lifeline-cat", self.folder / "events.llb"], capture_output=True, text=True, check=True)
        events = [json.loads(line) for line in cat.stdout.splitlines() if '"type":"lifeline.summary"' in line]
        return [event for event in events if event["type_"] == operation]

    def test_of_a_go_program_each_is_counted(self):
        go = shutil.which("go")
        if go is None:
            self.skipTest("Go is not installed")
        source = self.folder / "main.go"
        source.write_text(GO)
        built = subprocess.run([go, "build", "-o", self.folder / "io", source], capture_output=True, text=True,
                               env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
        self.assertEqual(built.returncode, 0, built.stderr)
        program = self.run_program(self.folder / "io", self.folder / "file")
        self.check(program, "disk.write", 200, 200 * 8192)
        self.check(program, "disk.read", 200, 200 * 8192)


def on_a_disk(path):
    return Path(f"/sys/dev/block/{os.major(path.stat().st_dev)}:{os.minor(path.stat().st_dev)}").exists()


if __name__ == "__main__":
    unittest.main(verbosity=2)
