"""Samples of processes and control groups, compared with what the processes know of themselves."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from probe_run import BIN, ProbeTest, until

SPIN = """
import os, resource, sys, threading
data = b"x" * 1000000
path = sys.argv[1]
for thread in range(3):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
while resource.getrusage(resource.RUSAGE_SELF).ru_utime < 0.6:
    pass
with open(path, "wb") as file:
    for i in range(5):
        os.write(file.fileno(), data)
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime, usage.ru_stime, flush=True)
sys.stdin.read()
"""
SLEEP = "import sys; print('ready', flush=True); sys.stdin.read()"
PARENT = """
import subprocess, sys, time
children = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
print(*[child.pid for child in children], flush=True)
sys.stdin.readline()
children.append(subprocess.Popen(["sleep", "60"]))
print(children[-1].pid, flush=True)
sys.stdin.read()
for child in children:
    child.kill()
"""


# Root without rights: a program that it starts has none beyond those of the owner of its files.
POWERLESS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]

# In a pid namespace of its own: the process that is sampled ends, and another one gets its number.
REUSE = """
import os, subprocess, sys, time
first = subprocess.Popen(["sleep", "60"])
events = os.environ["LIFELINE_URL"].removeprefix("file://")
probe = subprocess.Popen([sys.argv[1], "--pid", str(first.pid), "--every", "50ms", "--sample", "process"], stdout=subprocess.DEVNULL)
while not os.path.exists(events) or os.path.getsize(events) == 0:
    time.sleep(0.02)
first.kill()
first.wait()
with open("/proc/sys/kernel/ns_last_pid", "w") as last:
    last.write(str(first.pid - 1))
second = subprocess.Popen(["tail", "-f", "/dev/null"])
time.sleep(1)
probe.terminate()
probe.wait()
second.kill()
print(first.pid == second.pid)
"""


class Processes(ProbeTest):

    def test_cpu_time_and_bytes_are_those_that_the_process_knows(self):
        child = self.child(SPIN, self.folder / "out")
        user, system = map(float, child.stdout.readline().split())
        self.probe("--pid", child.pid, "--count", 1, "--sample", "process")
        [seen] = [e for e in self.events("host.process") if e["process"] == child.pid]
        tick = 1000 / os.sysconf("SC_CLK_TCK")
        self.assertLessEqual(abs(seen["user"] + seen["system"] - 1000 * (user + system)), 3 * tick + 20)
        self.assertEqual((seen["name"], seen["threads"], seen["parent"]), (Path(f"/proc/{child.pid}/comm").read_text().strip(),
                                                                           4, os.getpid()))
        self.assertGreater(seen["rss"], 1 << 20)
        self.assertEqual(seen["session"], "")
        [io] = [e for e in self.events("host.process.io") if e["process"] == child.pid]
        self.assertGreaterEqual(io["written"], 5000000)
        self.assertLess(io["written"], 5010000)
        self.assertGreaterEqual(io["writes"], 5)

    def test_bytes_for_disks_never_become_fewer(self):
        child = self.child("""
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(file, b"x" * 5000000)
print("written", flush=True)
sys.stdin.readline()
os.ftruncate(file, 0)
print("deleted", flush=True)
sys.stdin.read()
""", self.folder / "out")
        child.stdout.readline()
        running = self.start("--pid", child.pid, "--every", "50ms", "--sample", "process")
        until(lambda: self.events("host.process.io"), "a sample")
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()
        seen = len(self.events("host.process.io"))
        until(lambda: len(self.events("host.process.io")) > seen + 3, "samples after the deletion")
        self.end(running)
        written = [e["disk_written"] for e in self.events("host.process.io") if e["process"] == child.pid]
        if written[0] == 0:
            self.skipTest("the file system does not account what was written, or had not done so before the deletion")
        self.assertEqual(written, sorted(written))

    def test_descendants_are_sampled_from_their_start_and_forgotten_at_their_end(self):
        parent = self.child(PARENT)
        first = {int(word) for word in parent.stdout.readline().split()}
        running = self.start("--pid", parent.pid, "--every", "50ms", "--sample", "process")
        until(lambda: {e["process"] for e in self.events("host.process")} >= first | {parent.pid}, "the first children")
        parent.stdin.write("\n")
        parent.stdin.flush()
        late = int(parent.stdout.readline())
        until(lambda: late in {e["process"] for e in self.events("host.process")}, "the late child")
        os.kill(late, signal.SIGKILL)
        until(lambda: not in_last_samples(self.events("host.process"), late), "the end of the child")
        status, _, err = self.end(running)
        self.assertEqual(status, 0, err)

    def test_a_daemon_that_has_left_its_parent_stays_chosen(self):
        parent = self.child("""
import os, subprocess, sys
daemon = subprocess.Popen(["sleep", "60"])
print(daemon.pid, flush=True)
sys.stdin.readline()
os._exit(0)
""")
        daemon = int(parent.stdout.readline())
        self.addCleanup(os.kill, daemon, signal.SIGKILL)
        running = self.start("--pid", parent.pid, "--every", "50ms", "--slow", "1h", "--sample", "process")

        def samples():
            return [e for e in self.events("host.process") if e["process"] == daemon]

        until(samples, "a sample of the daemon")
        parent.stdin.write("\n")
        parent.stdin.flush()
        parent.wait()
        until(lambda: any(e["parent"] != parent.pid for e in samples()), "the daemon has another parent")
        before = len(samples())
        until(lambda: len(samples()) > before + 10, "samples at the same rate")
        self.end(running)

    def test_programs_are_chosen_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "a-program-with-a-name-of-more-than-15-bytes")
            program.symlink_to("/bin/sleep")
            child = subprocess.Popen([program, "60"])
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
            self.probe("--program", "a-program-*-15-bytes", "--count", 2, "--every", "100ms", "--sample", "process")
            self.assertEqual({e["process"] for e in self.events("host.process")}, {child.pid})

    def test_a_process_that_does_not_exist_is_an_error(self):
        child = self.child(SLEEP)
        child.stdout.readline()
        pid = child.pid
        child.kill()
        child.wait()
        err = self.probe("--pid", pid, "--count", 2, "--every", "20ms", "--sample", "process,tcp", status=1)
        self.assertEqual(err, f"lifeline-probe: --pid: there is no process {pid}\n")
        self.assertEqual(self.events("host.process"), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can choose the next pid")
    def test_another_process_with_the_same_number_is_not_sampled(self):
        done = subprocess.run(["unshare", "-pf", "--mount-proc", sys.executable, "-c", REUSE, BIN / "lifeline-probe"],
                              env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        if done.stdout != "True\n":
            self.skipTest(f"the number is not used again: {done.stderr.strip()[-200:]}")
        self.assertEqual({e["name"] for e in self.events("host.process")}, {"sleep"})

    def test_processes_that_come_and_go_are_no_harm(self):
        parent = self.child("import os\nos.execlp('sh', 'sh', '-c', 'while :; do /bin/true; done')")
        running = self.start("--pid", parent.pid, "--every", "10ms", "--sample", "process,tcp")
        until(lambda: len({e["process"] for e in self.events("host.process")}) > 3, "short processes")
        status, _, err = self.end(running)
        self.assertEqual(status, 0, err)
        self.assertNotIn("cannot", err)
        self.assertIn(parent.pid, {e["process"] for e in self.events("host.process")})

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount /proc anew")
    def test_a_hidden_proc_is_reported(self):
        """hidepid=2, without rights, in a namespace whose process 1 has all of them."""
        script = ("mount -t proc -o hidepid=2 proc /proc || exit 77; "
                  f"{' '.join(POWERLESS)} --regid=65534 --clear-groups {BIN}/lifeline-probe --count 1 --sample process,load --pid 1; exit $?")
        done = subprocess.run(["unshare", "-mpf", "sh", "-c", script], env=self.environment, capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode == 77 or done.stderr.startswith("unshare"):
            self.skipTest(f"no /proc of its own: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/proc hides the processes of other users", done.stderr)
        self.assertEqual(len(self.events("host.load")), 1)
        self.assertEqual(self.events("host.process"), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give its rights away")
    def test_without_rights_it_says_what_is_missing_and_samples_the_rest(self):
        child = self.child(SLEEP)
        child.stdout.readline()
        running = self.start("--pid", child.pid, "--count", 1, prefix=POWERLESS)
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 0, err)
        self.assertIn("host.process.io of them is not emitted", err)
        self.assertIn("their connections are not sampled", err)
        self.assertEqual([e["process"] for e in self.events("host.process")], [child.pid])
        self.assertEqual(self.events("host.process.io"), [])
        self.assertEqual(len(self.events("host.load")), 1)

    def test_a_control_group_of_version_2_and_of_version_1(self):
        """Recorded files, since a machine has one version only."""
        two = self.folder / "two/fs/cgroup/a/b"
        two.mkdir(parents=True)
        (two / "cpu.stat").write_text("usage_usec 30\nuser_usec 10\nsystem_usec 20\nthrottled_usec 5\n")
        (two / "memory.current").write_text("4096\n")
        (two / "memory.stat").write_text("anon 1000\nfile 2000\n")
        (two / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 0\n")
        (two / "io.stat").write_text("254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n8:0 rbytes=10 wbytes=20 rios=30 wios=40\n")
        one = self.folder / "one/fs/cgroup"
        for name, text in {"cpuacct/a/b/cpuacct.usage_user": "10000", "cpuacct/a/b/cpuacct.usage_sys": "20000",
                           "cpu/a/b/cpu.stat": "nr_periods 1\nnr_throttled 1\nthrottled_time 5000\n",
                           "memory/a/b/memory.usage_in_bytes": "4096", "memory/a/b/memory.failcnt": "7",
                           "memory/a/b/memory.stat": "rss 1\ntotal_rss 1000\ntotal_cache 2000\n",
                           "blkio/a/b/blkio.throttle.io_service_bytes": "254:0 Read 11\n254:0 Write 22\nTotal 33\n",
                           "blkio/a/b/blkio.throttle.io_serviced": "254:0 Read 33\n254:0 Write 44\nTotal 77\n"}.items():
            (one / name).parent.mkdir(parents=True, exist_ok=True)
            (one / name).write_text(text + "\n")
        for version in ("two", "one"):
            with self.subTest(version):
                (self.folder / "events.llb").unlink(missing_ok=True)
                self.probe("--sys", self.folder / version, "--cgroup", "/a/b", "--count", 1, "--sample", "cgroup")
                self.assertEqual([[v for k, v in e.items() if k != "tick"] for e in self.events(
                    "host.cgroup.cpu", "host.cgroup.memory", "host.cgroup.io")],
                    [["host.cgroup.cpu", "a/b", 10, 20, 5], ["host.cgroup.memory", "a/b", 4096, 1000, 2000, 7],
                     ["host.cgroup.io", "a/b", 33, 11, 44, 22]])

    @unittest.skipUnless(os.access("/sys/fs/cgroup", os.W_OK), "control groups cannot be made here")
    def test_the_processes_of_a_control_group_are_found(self):
        places = [Path("/sys/fs/cgroup") / mount for mount in ("", "unified", "cpuacct", "cpu,cpuacct", "memory", "pids")]
        place = next((p for p in places if (p / "cgroup.procs").exists()), None)
        if place is None:
            self.skipTest("no hierarchy of control groups is mounted")
        group = place / f"lifeline-test-{os.getpid()}" / "inner"
        try:
            group.mkdir(parents=True)
        except OSError as error:
            self.skipTest(f"no control group can be made: {error}")
        try:
            child = self.child(SLEEP)
            child.stdout.readline()
            (group / "cgroup.procs").write_text(str(child.pid))
            self.probe("--cgroup", f"/lifeline-test-{os.getpid()}", "--count", 2, "--every", "50ms", "--sample", "process")
            self.assertEqual({e["process"] for e in self.events("host.process")}, {child.pid})
            child.kill()
            child.wait()
        finally:
            until(lambda: removed(group) and removed(group.parent), "the control group is empty")


def removed(folder):
    try:
        folder.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def in_last_samples(events, pid):
    return any(e["process"] == pid for e in events[-9:])


if __name__ == "__main__":
    unittest.main()
