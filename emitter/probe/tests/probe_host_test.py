"""Samples of the host, on this machine and on files that no kernel wrote; options; the end of the probe."""

import json
import os
import random
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from probe_run import BIN, ProbeTest, until

# Files of /proc as kernels of different ages write them.
PROC = {
    "stat": "cpu  100 10 30 400 5 1 2 3 0 0\ncpu0 100 10 30 400 5 1 2 3 0 0\nintr 5 0 0\nctxt 9\n",
    "loadavg": "0.20 1.18 20.12 1/80 11206\n",
    "meminfo": "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nCached: 300 kB\nDirty: 4 kB\nSwapTotal: 0 kB\n"
               "SwapFree: 0 kB\n",
    "diskstats": "   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n 254 0 vda 10 0 16 5 20 0 32 6 1 7 8 0 0 0 0 0 0\n",
    "net/dev": "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"
               "eth0:1:9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n",
    "pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\n",
    "pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=2\n",
    "pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=13\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n",
}
PROC["1/net/dev"] = PROC["net/dev"]
HOST = ("host.cpu", "host.load", "host.memory", "host.disk", "host.network", "host.pressure")


class Host(ProbeTest):

    def proc(self, files):
        root = self.folder / "proc"
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return root

    def test_recorded_files_become_events(self):
        self.assertEqual(self.probe("--proc", self.proc(PROC), "--count", 1), "")
        found = {name: [{k: v for k, v in e.items() if k not in ("type", "tick")} for e in self.events(name)] for name in HOST}
        tick = 1000 // os.sysconf("SC_CLK_TCK")
        cpu = {"user": 110 * tick, "system": 33 * tick, "idle": 400 * tick, "iowait": 5 * tick, "steal": 3 * tick}
        self.assertEqual(found["host.cpu"], [{"cpu": -1} | cpu, {"cpu": 0} | cpu])
        self.assertEqual(found["host.load"], [{"one": 0.2, "five": 1.18, "fifteen": 20.12, "running": 1, "threads": 80}])
        self.assertEqual(found["host.memory"], [{"total": 1024000, "available": 614400, "cached": 307200, "dirty": 4096,
                                                 "swap_total": 0, "swap_free": 0}])
        self.assertEqual(found["host.disk"], [{"device": "vda", "reads": 10, "read_bytes": 8192, "read_time": 5, "writes": 20,
                                               "write_bytes": 16384, "write_time": 6, "busy_time": 7, "in_flight": 1}])
        self.assertEqual([list(e.values()) for e in found["host.network"]],
                         [["lo", 1, 2, 3, 4, 5, 6, 7, 8], ["eth0:1", 9, 1, 0, 0, 9, 1, 0, 0]])
        self.assertEqual([list(e.values()) for e in found["host.pressure"]], [["cpu", 11, 0], ["memory", 12, 2], ["io", 13, 3]])

    def test_interfaces_are_those_of_process_1_of_another_proc(self):
        ours = "h\nh\n    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"
        self.probe("--proc", self.proc({"net/dev": ours, "1/net/dev": ours.replace("lo", "eth7")}), "--count", 1,
                   "--sample", "network")
        self.assertEqual([e["interface"] for e in self.events("host.network")], ["eth7"])

    def test_interfaces_of_another_proc_that_cannot_be_read_are_reported(self):
        err = self.probe("--proc", self.proc({"net/dev": PROC["net/dev"]}), "--count", 2, "--every", "20ms", "--sample", "network")
        self.assertEqual(len(re.findall("1/net/dev of --proc cannot be read", err)), 1)
        self.assertEqual({e["interface"] for e in self.events("host.network")}, {"lo", "eth0:1"})

    def test_another_name_of_proc_is_no_other_proc(self):
        (self.folder / "proc").symlink_to("/proc")
        listed = subprocess.run(["unshare", "--net", "cat", "/proc/net/dev"], capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            self.skipTest(f"no network namespace of its own: {listed.stderr.strip()}")
        names = [line.split(":")[0].strip() for line in listed.stdout.splitlines()[2:]]
        for name in ("/proc/", self.folder / "proc"):
            (self.folder / "events.llb").unlink(missing_ok=True)
            self.probe("--proc", name, "--count", 1, "--sample", "network", prefix=["unshare", "--net"])
            self.assertEqual([e["interface"] for e in self.events("host.network")], names)

    def test_times_of_a_disk_go_on_when_the_kernels_wrap(self):
        line = "{:3} 0 vda {:<3} 0 16 {time:<10} 20 0 32 {time:<10} 0 {time:<10} 0\n" # of one length: no look finds half of it
        root = self.proc({"diskstats": line.format(254, 10, time=2**32 - 6)})
        running = self.start("--proc", root, "--every", "20ms", "--sample", "disk")
        # A wrap; many requests at once; another disk with this name, which has done less; one with another number.
        for device, operations, time in ((254, 11, 10), (254, 12, 3 * 10**9), (254, 5, 7), (253, 6, 3)):
            seen = len(self.events("host.disk"))
            until(lambda: len(self.events("host.disk")) > seen + 1, "samples")
            with open(root / "diskstats", "r+b") as file:
                file.write(line.format(device, operations, time=time).encode())
        until(lambda: self.events("host.disk")[-1]["reads"] == 6, "samples of the other disk")
        self.end(running)
        found = {tuple(e[name] for name in ("reads", "read_time", "write_time", "busy_time")) for e in self.events("host.disk")}
        self.assertEqual(found, {(10, *[2**32 - 6] * 3), (11, *[2**32 + 10] * 3), (12, *[2**32 + 3 * 10**9] * 3),
                                 (5, 7, 7, 7), (6, 3, 3, 3)})

    def test_a_missing_file_is_reported_once_and_the_others_go_on(self):
        files = {name: text for name, text in PROC.items() if not name.startswith("pressure")}
        err = self.probe("--proc", self.proc(files), "--count", 3, "--every", "20ms")
        self.assertEqual(len(re.findall("pressure stall information", err)), 1)
        self.assertEqual(err.count("\n"), 1)
        self.assertEqual(len(self.events("host.load")), 3)
        [counted] = [e for e in self.events("probe.samples") if e["sample"] == "pressure"]
        self.assertEqual((counted["samples"], counted["failures"]), (3, 3))

    def test_hostile_files_harm_nothing(self):
        """The same mutations in every run; a sanitizer build runs them, too."""
        generator = random.Random(17)
        for case in range(60):
            files = {}
            for name, text in PROC.items():
                data = bytearray(text.encode() * generator.choice([1, 1, 1, 50]))
                for _ in range(generator.randrange(8)):
                    data[generator.randrange(len(data))] = generator.choice(b"\0\n:/= -9\xff") if data else 0
                if generator.random() < 0.2:
                    del data[generator.randrange(len(data)):]
                if generator.random() < 0.1:
                    data += b"9" * 100000
                files[name] = bytes(data)
            with self.subTest(case):
                self.probe("--proc", self.proc(files), "--count", 1)
        self.assertGreater(len(self.events(*HOST)), 60)  # decoded, so every name is valid UTF-8

    def test_a_huge_file_is_read_as_a_whole(self):
        lines = "".join(f"cpu{i} 1 0 1 1 0 0 0 0\n" for i in range(4096))
        self.probe("--proc", self.proc(PROC | {"stat": "cpu  1 0 1 1 0 0 0 0\n" + lines}), "--count", 1, "--sample", "cpu")
        self.assertEqual(len(self.events("host.cpu")), 4097)

    def test_this_machines_counters_lie_between_two_own_looks(self):
        def look():
            cpu = [int(word) for word in Path("/proc/stat").read_text().split()[1:9]]
            return (cpu[0] + cpu[1]) * 1000 // os.sysconf("SC_CLK_TCK")

        before = look()
        err = self.probe("--count", 2, "--every", "100ms")
        after = look()
        users = [e["user"] for e in self.events("host.cpu") if e["cpu"] == -1]
        self.assertEqual(len(users), 2, err)
        self.assertTrue(before <= users[0] <= users[1] <= after, (before, users, after))
        memory = self.events("host.memory")[0]
        total = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) * 1024
        self.assertEqual(memory["total"], total)
        self.assertIn("lo", {e["interface"] for e in self.events("host.network")})
        [first, second] = self.events("host.clock")
        self.assertEqual((first["step"], second["step"]), (0, 0))
        self.assertIsInstance(first["synchronised"], (bool, int))

    def test_a_type_that_is_off_is_not_read(self):
        self.environment["LIFELINE_RESOLUTION"] = "host.cpu off"
        self.probe("--proc", self.proc(PROC), "--count", 3, "--every", "20ms", "--sample", "cpu,load")
        self.assertEqual(self.events("host.cpu"), [])
        self.assertEqual(len(self.events("host.load")), 3)

    def test_what_is_late_is_skipped_and_counted(self):
        running = self.start("--every", "50ms", "--sample", "load")
        until(lambda: self.events("host.load"), "a sample")
        running.send_signal(signal.SIGSTOP)
        time.sleep(1)
        running.send_signal(signal.SIGCONT)
        continued = time.monotonic_ns()
        until(lambda: self.events("host.load")[-1]["tick"] > continued, "samples after the pause")
        status, _, err = self.end(running)
        self.assertEqual(status, 0)
        self.assertIn("came too late and were skipped", err)
        [counted] = [e for e in self.events("probe.samples") if e["sample"] == "load"]
        self.assertGreaterEqual(counted["skipped"], 15)
        self.assertEqual(counted["samples"], len(self.events("host.load")))

    def test_what_an_activation_asks_for_is_sampled_fast_while_it_lasts(self):
        triggers = self.folder / "triggers"
        triggers.touch(mode=0o600)
        self.environment |= {"LIFELINE_TRIGGERS": str(triggers), "LIFELINE_MAX_RATE": "1000",
                             "LIFELINE_RESOLUTION": "* full for=1h; host.* full"}  # neither raises a rate
        running = self.start("--every", "1h", "--fast", "10ms", "--sample", "load,memory,process", "--pid",
                             self.child("import sys; sys.stdin.read()").pid)
        until(lambda: self.events("host.load"), "the first sample")

        def wait_for(lines, name, what):
            fresh = triggers.with_suffix(".new")
            fresh.write_text(lines + "end\n")
            fresh.chmod(0o600)
            fresh.rename(triggers)
            seen = len(self.events(name))
            until(lambda: len(self.events(name)) > seen + 5, what)

        wait_for("* full\nhost.load full\n", "host.load", "samples of the load")
        self.assertEqual((len(self.events("host.memory")), len(self.events("host.process"))), (1, 1))
        wait_for("host.m* full\n", "host.memory", "samples of the memory")
        asked = "host.* full\nhost.load sample:1\n"
        wait_for(asked, "host.process", "samples of the process")
        loads = len(self.events("host.load"))
        wait_for(asked, "host.process", "more of them")
        self.assertLessEqual(len(self.events("host.load")), loads + 3) # those that were due are taken
        self.assertEqual(self.end(running)[0], 0)

    @unittest.skipIf(os.environ.get("LIFELINE_SANITIZE"), "a sanitizer wants to be loaded first")
    def test_a_suspension_is_no_step(self):
        suspended = self.folder / "suspended"
        self.environment |= {"LD_PRELOAD": str(BIN.parent / "test-plugins/step-clock.so"), "SUSPEND_CLOCK": str(suspended)}
        running = self.start("--every", "50ms", "--sample", "clock")
        until(lambda: len(self.events("host.clock")) > 3, "samples before the suspension")
        suspended.touch()
        seen = len(self.events("host.clock"))
        until(lambda: len(self.events("host.clock")) > seen + 3, "samples after it")
        self.assertEqual(self.end(running)[0], 0)
        self.assertEqual({e["step"] for e in self.events("host.clock")}, {0})

    @unittest.skipIf(os.environ.get("LIFELINE_SANITIZE"), "a sanitizer wants to be loaded first")
    def test_a_step_of_the_time_of_day_is_seen_and_changes_no_schedule(self):
        step = self.folder / "step"
        self.environment |= {"LD_PRELOAD": str(BIN.parent / "test-plugins/step-clock.so"), "STEP_CLOCK": str(step)}
        running = self.start("--every", "50ms", "--sample", "clock,load")
        until(lambda: len(self.events("host.clock")) > 3, "samples before the step")
        step.touch()
        seen = len(self.events("host.load"))
        until(lambda: len(self.events("host.load")) > seen + 3, "samples after the step")
        status, _, err = self.end(running)
        self.assertEqual(status, 0, err)
        steps = [e["step"] for e in self.events("host.clock") if e["step"] != 0]
        self.assertEqual([round(one / 1e9) for one in steps], [3600])
        [counted] = [e for e in self.events("probe.samples") if e["sample"] == "load"]
        self.assertLess(counted["samples"] + counted["skipped"], 1000)  # in an hour: 72,000

    def test_signals_end_it_with_everything_sent(self):
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(how):
                (self.folder / "events.llb").unlink(missing_ok=True)
                self.environment["LIFELINE_INTERVAL_MS"] = "60000"
                running = self.start("--every", "20ms", "--sample", "load", "--json")
                until(lambda: any((self.folder / "rings").glob("*")), "the ring file, which is made after signals are caught")
                time.sleep(0.3)
                status, out, err = self.end(running, how)
                self.assertEqual(status, 0, err)
                totals = json.loads(out)
                self.assertEqual(totals["dropped"], 0)
                self.assertEqual(totals["events"], len(self.events("host.load", "probe.samples")))

    def test_a_log_without_a_reader_does_not_end_it(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w") as closed:
            running = subprocess.Popen([BIN / "lifeline-probe", "--proc", self.proc({"loadavg": PROC["loadavg"]}), "--every",
                                        "20ms", "--count", "3"], env=self.environment, stdout=closed, stderr=closed)
            self.assertEqual(running.wait(timeout=60), 0)
        self.assertEqual(len(self.events("host.load")), 3)

    def test_where_instrumentation_is_off_it_does_not_pretend_to_work(self):
        self.environment["LIFELINE"] = "off"
        self.assertIn("LIFELINE=off", self.probe("--count", 1, status=1))

    def test_a_full_ring_is_counted_and_the_probe_goes_on(self):
        number = random.Random(1).randrange
        lines = "".join(f"cpu{i} {number(2**50)} 0 {number(2**50)} {number(2**50)} {number(2**50)} 0 0 {number(2**50)}\n"
                        for i in range(4096))
        root = self.proc({"stat": "cpu  1 0 1 1 0 0 0 0\n" + lines})
        self.environment |= {"LIFELINE_URL": "nats://127.0.0.1:1", "LIFELINE_BUDGET_BYTES": str(2 << 20),
                             "LIFELINE_FLUSH_TIMEOUT_MS": "100"}
        self.probe("--proc", root, "--count", 60, "--every", "10ms", "--sample", "cpu", "--json", status=1)
        totals = json.loads(self.out)
        self.assertGreater(totals["dropped"], 0)
        self.assertGreaterEqual(totals["samples"], 60)

    def test_wrong_usage_is_status_2(self):
        for arguments, says in ((["--every", "1"], "--every must be a time"), (["--every", "5ms"], "--every must be a time"),
                                (["--pid", "0"], "--pid must be"), (["--pid", "x"], "--pid must be"),
                                (["--sample", "cpu,all"], "--sample must be"), (["--cgroup", "/../x"], "without .."),
                                (["--count", "0"], "--count must be"), (["--what"], "unknown or incomplete option --what"),
                                (["more"], "unexpected argument more"), (["--pid", "5000000000"], "--pid must be")):
            with self.subTest(arguments):
                self.assertIn(says, self.probe(*arguments, status=2))
        del self.environment["LIFELINE_URL"]
        self.assertIn("no sink", self.probe(status=2))

    def test_what_cannot_start_is_status_1(self):
        self.assertIn("directory /nowhere cannot be opened", self.probe("--proc", "/nowhere", status=1))
        self.assertIn("network namespace no-such cannot be entered", self.probe("--netns", "no-such", status=1))

    def test_closed_standard_descriptors_are_no_harm(self):
        done = subprocess.run(["sh", "-c", f"exec {BIN}/lifeline-probe --count 2 --every 20ms <&- >&- 2>&-"],
                              env=self.environment, timeout=60, check=False)
        self.assertIn(done.returncode, (0, 1))  # the totals cannot be printed
        self.assertEqual(len(self.events("host.load")), 2)


if __name__ == "__main__":
    unittest.main()
