"""`lifeline-run --emitters long`: processes add to the run's table, which the agent delivers."""

import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from preload import BIN, PYTHON, Preloaded

LIMIT_S = 120
BLOCK = 4096


def wait_until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"no {what} within {LIMIT_S} s")
        time.sleep(0.01)


class RunsTest(Preloaded):
    emitters = "long"

    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"

    def agents(self):
        """Processes of this test's runs that have no preload."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and (folder / "comm").read_text() == "lifeline-run\n" and \
                        f"LIFELINE_RING_DIR={self.rings}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                pass
        return found

    def end(self):
        wait_until(lambda: not self.agents(), "end of the agent")

    def sums(self, operation, process=None):
        self.end()
        found = {}
        for event in self.events():
            if event["type"] == "io.run" and event["operation"] == operation and process in (None, event["process"]):
                found[event["name"]] = found.get(event["name"], 0) + event["nbytes"]
        return found

    def script(self, text):
        path = self.folder / f"script-{len(list(self.folder.iterdir()))}"
        path.write_text(textwrap.dedent(text))
        return path

    def page(self, done):
        """The run's table, whose path the program has printed first."""
        return Path(done.stdout.split()[0])

    def test_what_every_process_has_done_is_counted_however_it_ends(self):
        ends = ["pass", "os._exit(0)", "os.abort()", "os.execv('/bin/true', ['true'])", "ctypes.string_at(0)", "ctypes.CDLL(None).quick_exit(0)",
                "ctypes.CDLL(None).syscall(231, 0)" if os.uname().machine == "x86_64" else "pass"]
        ends += [f"os.kill(os.getpid(), {int(number)})" for number in
                 (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGKILL)]
        program = self.script(f"""
            import ctypes, os, resource, signal
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            print(os.environ["LIFELINE_RUN_PAGE"], flush=True)
            for number, end in enumerate({ends!r}):
                if os.fork() == 0:
                    signal.signal(signal.SIGINT, signal.SIG_DFL)
                    file = os.open({str(self.data)!r} + str(number), os.O_CREAT | os.O_WRONLY, 0o600)
                    for block in range(number + 1):
                        os.write(file, bytes({BLOCK}))
                    exec(end)
                    os._exit(0)
                os.wait()
            """)
        done = self.run_measured(PYTHON, program)
        sums = self.sums("disk.write")
        self.assertEqual({name: sums.get(f"{self.data}{name}") for name in range(len(ends))},
                         {name: (name + 1) * BLOCK for name in range(len(ends))})
        self.assertFalse(self.page(done).exists())

    def test_summaries_of_short_processes_are_those_of_emitters(self):
        """Two processes, one of them killed, and blocks of two sizes: all of a caliper's figures, and those of its rate and duration."""
        program = (f"dd if=/dev/zero of={self.data}1 bs=1000 count=30 status=none; dd if=/dev/zero of={self.data}2 bs=3000 count=10 status=none; "
                   f"(dd if=/dev/zero of={self.data}3 bs=3000 count=20 status=none; kill -9 $BASHPID); true")
        self.run_measured("bash", "-c", program)
        self.end()
        [value], [duration], [rate] = ([event for event in self.events() if event["type"] == "lifeline.summary" and event["type_"] == "disk.write" and
                                        event["field"] == field] for field in ("value", "duration", "rate"))
        self.assertEqual([value[key] for key in ("unit", "count", "min", "max", "sum", "mean", "not_finite", "threads", "program")],
                         ["B", 60, 1000, 3000, 120_000, 2000, 0, 3, "bash"])
        self.assertAlmostEqual(value["variance"], 60 / 59 * 1e6, places=3)
        written = [event for event in self.events() if event["type"] == "io.run" and event["operation"] == "disk.write"]
        self.assertEqual((duration["unit"], duration["count"], rate["unit"], rate["count"]), ("ns", 60, "B/s", 60))
        self.assertAlmostEqual(duration["sum"], sum(event["duration"] for event in written), delta=0.01 * duration["sum"] + 60)
        self.assertTrue(0 < duration["min"] <= duration["mean"] <= duration["max"] <= value["interval"], duration)
        self.assertTrue(1000e9 / duration["max"] * 0.99 <= rate["min"] <= rate["mean"] <= rate["max"], (rate, duration))
        self.assertGreater(duration["variance"], 0)

    def test_a_rule_switches_a_caliper_off_and_sets_what_is_named(self):
        self.run_measured("dd", "if=/dev/zero", f"of={self.data}", f"bs={BLOCK}", "count=3", "status=none", options=["--targets", "0"],
                          environment={"LIFELINE_RESOLUTION": "disk.write off"})
        self.end()
        self.assertEqual((self.caliper("disk.write"), self.caliper("other.read")), ((0, 0), (3, 3 * BLOCK)))
        self.assertFalse([event for event in self.events() if event["type"] in ("io.run", "io.target")])

    def test_a_call_that_hangs_is_under_way(self):
        read, write = os.pipe()
        running = self.start("cat", options=["--interval", "1s"], stdin=read)
        self.addCleanup(os.close, write)
        os.close(read)
        wait_until(lambda: any(event["type"] == "io.run" and (event["operation"], event["count"], event["open"]) == ("pipe.read", 0, 1)
                               for event in self.events()), "report of the hanging read")
        running.kill()

    def copies(self, count, name=""):
        return f"dd if=/dev/zero of={self.data}{name} bs={BLOCK} count={count} status=none"

    def test_a_run_within_a_run_has_a_table_of_its_own(self):
        inner = " ".join(map(str, self.command("sh", "-c"))) + f" '{self.copies(5, 1)}'"
        self.run_measured("sh", "-c", f"{self.copies(3, 0)}; {inner}; {self.copies(4, 2)}")
        self.assertEqual(self.sums("disk.write", "dd"), {f"{self.data}0": 3 * BLOCK, f"{self.data}1": 5 * BLOCK, f"{self.data}2": 4 * BLOCK})
        self.assertEqual(len({event["pid"] for event in self.events() if event["type"] == "io.run"}), 2)

    def test_a_build_is_counted_to_the_byte(self):
        (self.folder / "Makefile").write_text("program: " + " ".join(f"{i}.o" for i in range(8)) + "\n\tcat $^ > $@\n%.o: %.c\n\tcc -c -o $@ $<\n")
        for i in range(8):
            (self.folder / f"{i}.c").write_text(f"#include <stdio.h>\nint f{i}(void) {{ return puts(__FILE__); }}\n")
        self.run_measured("make", "-s", "-j4", "-C", self.folder)
        objects = [self.folder / f"{i}.o" for i in range(8)]
        self.assertEqual({name: nbytes for name, nbytes in self.sums("disk.read", "cat").items() if name.endswith(".o")},
                         {str(file): file.stat().st_size for file in objects})
        self.assertEqual(self.sums("disk.write", "cat"), {str(self.folder / "program"): sum(file.stat().st_size for file in objects)})

    def test_an_unreachable_broker_leaves_the_sums_to_a_recovery(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"nats://127.0.0.1:{unused.getsockname()[1]}"
        self.run_measured("sh", "-c", f"{self.copies(6)}; kill -9 $$", url=url, status=-signal.SIGKILL)
        self.end()
        subprocess.run([BIN / "lifeline-recover", "--ring-dir", self.rings, "--url", f"file://{self.out}"], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(self.sums("disk.write", "dd"), {str(self.data): 6 * BLOCK})

    def test_what_the_agent_has_to_say_is_seen(self):
        program = (PYTHON, "-c", "open('/etc/passwd').read()")
        unknown = self.run_measured(*program, url="nats://127.0.0.1:1?bogus=1").stderr
        self.assertRegex(unknown, r'\Alifeline: error: nats: the URL\'s parameter "bogus" is unknown;[^\n]*\n\Z')
        refused = self.run_measured(*program, url="nats://127.0.0.1:1").stderr
        self.assertRegex(refused, r"\Alifeline: error: nats: 127.0.0.1:1 cannot be reached: Connection refused; trying again\n"
                                  r"lifeline: warning: events are not acknowledged yet [^\n]*\n\Z")

    def test_a_program_that_has_closed_standard_error_leaves_the_terminal_to_the_agent(self):
        ours, theirs = os.openpty()
        program = (PYTHON, "-c", "import os; open('/etc/passwd').read(); os.close(2)")
        self.run_measured(*program, url="nats://127.0.0.1:1", stderr=theirs)
        os.close(theirs)
        self.assertIn(b"lifeline: error: nats: 127.0.0.1:1 cannot be reached", os.read(ours, 4096))
        os.close(ours)

    def test_a_subreaper_that_waits_for_all_children_has_no_agent_among_them(self):
        program = self.script("""
            import os
            if os.fork() == 0:
                os._exit(0)
            try:
                while os.wait():
                    print("a child")
            except ChildProcessError:
                pass
            """)
        become = "import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run([PYTHON, "-c", become, *map(str, self.command(PYTHON, program))], env=self.environment, timeout=LIMIT_S,
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, "a child\n")

    def test_a_main_thread_that_ends_before_others(self):
        program = self.script(f"""
            import ctypes, os, threading, time
            def work():
                while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
                    time.sleep(0.01)
                os.write(os.open({str(self.data)!r}, os.O_CREAT | os.O_WRONLY, 0o600), bytes({BLOCK}))
                os._exit(3)
            threading.Thread(target=work).start()
            ctypes.CDLL(None).pthread_exit(None)
            """)
        self.run_measured(PYTHON, program, status=3)
        self.assertEqual(self.sums("disk.write"), {str(self.data): BLOCK})

    def test_a_process_that_cannot_see_the_table_is_an_emitter_or_harmless(self):
        self.run_measured("sh", "-c", f"{self.copies(1, 0)}; LIFELINE_RUN_PAGE=/nonexistent {self.copies(2, 1)}")
        self.assertEqual(self.sums("disk.write", "dd"), {f"{self.data}0": BLOCK})
        self.assertEqual(self.targets("disk.write", "dd")[f"{self.data}1"]["nbytes"], 2 * BLOCK)
        if os.getuid() == 0:
            self.folder.chmod(0o777)
            self.run_measured("setpriv", "--reuid", "65534", "--clear-groups", *self.copies(3, 2).split())
            self.assertEqual(Path(f"{self.data}2").stat().st_size, 3 * BLOCK)

    def test_a_killed_first_process_loses_nothing(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            self.run_measured("sh", "-c", f"dd if=/dev/zero of={self.data} bs={BLOCK} count=100 status=none; kill -{int(number)} $$", status=-number)
        self.assertEqual(self.sums("disk.write", "dd"), {str(self.data): 200 * BLOCK})

    def test_a_signal_to_the_whole_group_spares_the_agent(self):
        program = f"for i in 1 2 3; do (dd if=/dev/zero of={self.data}$i bs={BLOCK} count=50 status=none; exec sleep 1000) & done; wait"
        running = self.start("sh", "-c", program, start_new_session=True)
        wait_until(lambda: [file.stat().st_size for file in self.folder.glob("data*")] == [50 * BLOCK] * 3, "files")
        os.killpg(running.pid, signal.SIGTERM)
        self.assertEqual(running.wait(LIMIT_S), -signal.SIGTERM)
        self.assertEqual(sum(self.sums("disk.write", "dd").values()), 150 * BLOCK)

    def test_a_reader_that_leaves(self):
        self.run_measured("sh", "-c", f"dd if=/dev/zero bs={BLOCK} status=none | head -c {10 * BLOCK} > /dev/null")
        self.assertGreaterEqual(self.sums("pipe.read", "head")["pipe"], 10 * BLOCK)
        self.assertGreaterEqual(self.sums("pipe.write", "dd")["pipe"], 10 * BLOCK)

    def test_many_short_processes_at_once_and_one_that_outlives_the_first(self):
        (self.folder / "Makefile").write_text("".join(
            f"all: {self.data}{i}\n{self.data}{i}:\n\t@dd if=/dev/zero of=$@ bs={BLOCK} count={i} status=none\n" for i in range(1, 31)))
        late = f"echo $LIFELINE_RUN_PAGE; make -s -j 4 -f {self.folder}/Makefile; (sleep 0.5; dd if=/dev/zero of={self.data}0 bs={BLOCK} count=7 status=none) > /dev/null 2>&1 & exit 0"
        done = self.run_measured("sh", "-c", late)
        sums = self.sums("disk.write", "dd")
        self.assertEqual({name: sums.get(f"{self.data}{name}", 0) // BLOCK for name in range(31)}, {0: 7} | {i: i for i in range(1, 31)})
        self.assertFalse(self.page(done).exists())

    def test_a_short_process_has_no_thread_of_ours_and_a_long_one_emits(self):
        program = self.script(f"""
            import os, time
            file = os.open({str(self.data)!r}, os.O_CREAT | os.O_WRONLY, 0o600)
            os.write(file, bytes({BLOCK}))
            threads = len(os.listdir("/proc/self/task"))
            started = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
            if time.clock_gettime(time.CLOCK_BOOTTIME) - started < 0.9:
                print("threads", threads)
            blocks = 1
            end = time.monotonic() + {LIMIT_S}
            more = 10
            while more > 0 and time.monotonic() < end:
                os.write(file, bytes({BLOCK}))
                blocks += 1
                more -= len(os.listdir("/proc/self/task")) > 1
                time.sleep(0.01)
            print("blocks", blocks, len(os.listdir("/proc/self/task")) > 1)
            """)
        lines = dict(line.split(" ", 1) for line in self.run_measured(PYTHON, program).stdout.splitlines())
        blocks, emits = lines["blocks"].split()
        self.assertIn(lines.get("threads", "1"), "1")
        self.assertEqual(emits, "True")
        self.assertEqual(self.sums("disk.write"), {str(self.data): int(blocks) * BLOCK})
        self.assertEqual(self.caliper("disk.write"), (int(blocks), int(blocks) * BLOCK))
        summaries = [event for event in self.events() if event["type"] == "lifeline.summary" and event["type_"] == "disk.write"]
        self.assertEqual(len({event["pid"] for event in summaries}), 2)  # the agent's, and its own from then on
        self.assertFalse([event for event in self.events() if event["type"] == "io.target"])

    def test_a_killed_agent_holds_up_nobody_and_the_next_run_removes_its_table(self):
        program = self.script("""
            import os, sys
            print(os.environ["LIFELINE_RUN_PAGE"], flush=True)
            sys.stdin.readline()
            os.write(os.open(os.devnull, os.O_WRONLY), b"x")
            """)
        running = self.start(PYTHON, program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        page = Path(running.stdout.readline().strip())
        [agent] = [pid for pid in self.agents() if pid != running.pid]
        os.kill(agent, signal.SIGKILL)
        self.end()
        self.assertEqual((running.communicate("\n", LIMIT_S), running.returncode), (("", None), 0))
        self.assertTrue(page.exists())
        self.run_measured("true")
        self.assertFalse(page.exists())

    def test_durations_are_nanoseconds_whatever_the_clock(self):
        for clock in ("auto", "monotonic"):
            self.run_measured("sh", "-c", "(sleep 0.3; echo x) | cat", environment={"LIFELINE_CLOCK": clock})
            self.end()
            [read] = [event for event in self.events() if event["type"] == "io.run" and (event["process"], event["operation"]) == ("cat", "pipe.read")]
            self.assertTrue(0.1e9 < read["duration"] < LIMIT_S * 1e9, read)
            self.assertLessEqual(read["longest"], read["duration"] * 1.01)
            self.out.unlink()

    def test_without_room_for_the_table_every_process_is_an_emitter(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        done = self.run_measured("dd", "if=/dev/zero", f"of={self.data}", f"bs={BLOCK}", "count=3", "status=none", preexec_fn=limit)
        self.assertIn("every process is an emitter", done.stderr)
        self.assertEqual(self.targets("disk.write", "dd")[str(self.data)]["nbytes"], 3 * BLOCK)

    def test_wrong_wishes_are_refused(self):
        done = subprocess.run([BIN / "lifeline-run", "--url", "null:", "--emitters", "some", "true"], env=self.environment, stderr=subprocess.PIPE,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--emitters", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
