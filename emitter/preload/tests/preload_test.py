"""`lifeline run`: what it measures is what happened, and the program does not notice."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from preload import BIN, PYTHON, Preloaded

ROOT = Path(__file__).resolve().parents[3]
CALLS, HABITS, POINTERS, SIZES = (BIN / f"preload-{name}" for name in ("calls", "habits", "pointers", "sizes"))
BLOCK = 100  # bytes that calls.c and habits.c move at once


WAITS = """
import os, select, socket, sys, threading, time

def wait(end, writing):
    if sys.argv[1] == "poll":
        waiter = select.poll()
        waiter.register(end, select.POLLOUT if writing else select.POLLIN)
        waiter.poll()
    elif sys.argv[1] == "epoll":
        waiter = select.epoll()
        waiter.register(end, select.EPOLLOUT if writing else select.EPOLLIN)
        waiter.poll()
    else:
        select.select([] if writing else [end], [end] if writing else [], [])

def pair():
    listener = socket.create_server(("127.0.0.1", 0))
    there = socket.create_connection(listener.getsockname())
    here, _ = listener.accept()
    here.setblocking(False)
    return here, there

def receiver(end):
    for _ in range(4):
        end.send(b"go")
        timed(wait, end, False)
        end.recv(100)

def sender(end):
    left = 20_000_000
    while left > 0:
        try:
            left -= end.send(bytes(min(left, 1_000_000)))
        except BlockingIOError:
            timed(wait, end, True)

def server(end):
    for again in range(3):
        timed(wait, end, False) if again else wait(end, False)
        end.recv(100)
        end.send(b"answer")

def edges(end):
    waiter, got = select.epoll(), 0
    waiter.register(end, select.EPOLLIN | select.EPOLLET)
    while got < 4:
        end.send(b"go")
        timed(waiter.poll)
        try:
            while data := end.recv(1):
                got += len(data)
        except BlockingIOError:
            pass

def timed(call, *arguments, **options):
    global spent
    began = time.monotonic()
    try:
        return call(*arguments, **options)
    finally:
        spent += time.monotonic() - began

def idle():
    select.select([os.pipe()[0]], [], [], 0.3)

def ticker(end):
    end.setblocking(True)
    for _ in range(4):
        idle()
        end.send(b"x")
        timed(end.recv, 1)

def threads(end):
    end.setblocking(True)
    end.send(b"xx")
    timed(end.recv, 1)
    other = threading.Thread(target=idle)
    other.start()
    other.join()
    timed(end.recv, 1)

def peeker(end):
    end.setblocking(True)
    here, there = pair()
    here.setblocking(True)
    end.send(b"xxxx")
    timed(end.recv, 1)
    for _ in range(3):
        threading.Timer(0.3, there.send, [b"x"]).start()
        timed(here.recv, 1, socket.MSG_PEEK)
        timed(here.recv, 1)
        timed(end.recv, 1)

def reused(end):
    end.setblocking(True)
    end.send(b"x")
    timed(end.recv, 1)
    idle()
    here, there = pair()
    here.setblocking(True)
    there.send(b"x")
    os.dup2(here.fileno(), end.fileno())
    timed(end.recv, 1)

def slow_pipe():
    from_, to = os.pipe()
    if os.fork() == 0:
        for _ in range(5):
            time.sleep(0.2)
            os.write(to, b"x")
        os._exit(0)
    os.close(to)
    return from_

def relay(end):
    from_ = slow_pipe()
    while select.select([from_], [], []) and timed(os.splice, from_, end.fileno(), 65536):
        pass

def splicer(end):
    from_, moved = slow_pipe(), 1
    while moved:
        select.select([from_], [], [])
        try:
            while moved := timed(os.splice, from_, end.fileno(), 65536, flags=os.SPLICE_F_NONBLOCK):
                pass
        except BlockingIOError:
            pass

def files(end):
    with open(__file__, "rb") as file:
        for _ in range(3):
            timed(os.sendfile, end.fileno(), file.fileno(), 0, 1_000_000)
            timed(os.sendfile, end.fileno(), file.fileno(), 1_000_000, 1_000_000)
            idle()

def inherited(end):
    end.set_inheritable(True)
    return end.fileno()

def serve(name, peer):
    here, there = pair()
    if os.fork() == 0:
        there.close()
        os.environ["LIFELINE_PROGRAM"] = name
        os.execv(sys.executable, [sys.executable, __file__, sys.argv[1], name, str(inherited(here))])
    here.close()
    peer(there)
    there.close()
    os.wait()

def talker(end):
    for _ in range(4):
        end.recv(2)
        time.sleep(0.3)
        end.sendall(b"x")

def drain(end):
    time.sleep(0.6)
    while end.recv(1_000_000):
        pass

def echo(end):
    while byte := end.recv(1):
        end.send(byte)

def client(end):
    for _ in range(3):
        time.sleep(0.7)
        end.sendall(b"request")
        end.recv(100)

if len(sys.argv) > 2:
    spent = 0
    globals()[sys.argv[2]](socket.socket(fileno=int(sys.argv[3])))
    print(sys.argv[2], spent, int(open("/proc/self/schedstat").read().split()[1]) / 1e9)
else:
    programs = {"receives": [("edges", talker), ("ticker", echo), ("threads", echo), ("peeker", echo), ("reused", echo)],
                "sends": [("relay", drain), ("splicer", drain), ("files", drain)]}
    for program in programs.get(sys.argv[1], [("receiver", talker), ("sender", drain), ("server", client)]):
        serve(*program)
"""


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"timeout: {what}")
        time.sleep(0.02)


class Measured(Preloaded):

    def test_every_call_is_measured_once_with_its_bytes(self):
        port = int(self.run_measured(CALLS, self.folder).stdout.split()[1])
        events = self.events()
        data, copy, lines = (str(self.folder / name) for name in ("data", "copy", "lines"))
        peer, accepted = f"127.0.0.1:{port}", f":{port} from 127.0.0.1"
        expected = {
            ("disk.write", data): (8, 8 * BLOCK, 0, 0),
            ("disk.read", data): (10, 10 * BLOCK, 0, 0),  # one of them is copy_file_range's, one sendfile's
            ("disk.sync", data): (4, 0, 0, 0),
            ("disk.write", copy): (1, BLOCK, 0, 0),
            ("disk.read", copy): (0, 0, 0, 1),
            ("net.connect", peer): (1, 0, 0, 0),
            ("net.accept", f":{port}"): (1, 0, 0, 0),
            ("net.send", peer): (5, 5 * BLOCK, 0, 0),
            ("net.receive", accepted): (5, 5 * BLOCK, 1, 0),
            ("pipe.write", "pipe"): (3, 3 * BLOCK, 0, 0),
            ("pipe.read", "pipe"): (3, 3 * BLOCK, 0, 0),
        }
        for (operation, name), sums in expected.items():
            with self.subTest(operation=operation, name=name):
                self.assertEqual(tuple(self.targets(operation, events=events)[name].values()), sums)
        self.assertEqual(self.targets("disk.write", events=events)[lines]["nbytes"], 11000)
        self.assertEqual(self.targets("disk.read", events=events)[lines]["nbytes"], 11000)
        # What moves from one descriptor to another is one operation of a caliper.
        self.assertEqual(self.caliper("disk.write", events=events), (19, 9 * BLOCK + 11000))
        self.assertEqual(self.caliper("disk.read", events=events), (8 + 3, 8 * BLOCK + 11000))
        self.assertEqual(self.caliper("net.send", events=events), (5, 5 * BLOCK))
        self.assertEqual(self.caliper("net.receive", events=events), (5, 5 * BLOCK))
        self.assertIn(self.caliper("wait.poll", events=events)[0], (6, 7))  # old kernels have no epoll_pwait2

    def test_what_each_call_moves_is_what_the_kernel_has_counted(self):
        """And errno is as without the preload."""
        def run(run):
            folder = self.folder / ("sizes" + "x" * runs.index(run))
            folder.mkdir()
            return folder, run(SIZES, folder).stdout
        runs = [lambda *program: subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True), self.run_measured]
        (_, plain), (folder, measured) = map(run, runs)
        self.assertNotIn("errno", plain)
        self.assertNotIn("errno", measured)
        events = self.events()
        for name, *moved in re.findall(r"row (\S+) (\d+) (\d+)\n", plain):
            with self.subTest(name):
                found = [sum(self.targets(f"{kind}.{way}", events=events).get(str(folder / name), {"nbytes": 0})["nbytes"] for kind in ("disk", "pipe"))
                         for way in ("read", "write")]
                self.assertEqual(found, [int(count) for count in moved])

    def test_a_list_says_what_is_measured(self):
        self.run_measured(CALLS, self.folder, options=["--for", "net.send,fsync"])
        self.assertEqual({event["operation"] for event in self.events() if event["type"] == "io.target"}, {"net.send", "disk.sync"})

    def test_stdio_and_children_of_a_shell_are_measured(self):
        data = self.folder / "data"
        data.write_bytes(b"x" * 100000)
        done = self.run_measured("/bin/sh", "-c", f"cat {data} | tr x y | wc -c; exec 3>{self.folder}/three; echo word >&3")
        self.assertEqual(done.stdout, "100000\n")
        self.assertEqual(self.targets("disk.read", "cat")[str(data)]["nbytes"], 100000)
        self.assertEqual(self.targets("pipe.write", "cat")["pipe"]["nbytes"], 100000)
        self.assertEqual(self.targets("pipe.read", "wc")["pipe"]["nbytes"], 100000)
        self.assertEqual(self.targets("disk.write")[f"{self.folder}/three"]["nbytes"], 5)

    def test_waits_belong_to_the_operations_that_they_are_for(self):
        """A receive that never blocks takes as long as its data, a send as long as the room for it; an idle server sends nothing."""
        for how in ("poll", "epoll", "select"):
            with self.subTest(how=how):
                seconds, own, waited = self.durations(how)
                # what the program measures is more, by the time in which it had no processor
                for operation, program in (("net.receive", "receiver"), ("net.send", "sender"), ("net.receive", "server")):
                    self.assertGreaterEqual(seconds(operation, program), (own[program] - waited[program]) / 2)
                self.assertLess(seconds("net.send", "server"), 1 + waited["server"])  # it was idle for two seconds

    def test_waits_are_no_part_of_other_operations(self):
        """Neither those of another thread, nor for a timer, nor for the number's previous file, nor for what is then sent. The
        program's own measurement encloses the calls. The waits, 0.3 s and more, count also if not all operations are measured."""
        for how, operation, programs in (("receives", "net.receive", ("ticker", "threads", "peeker", "reused")),
                                         ("sends", "net.send", ("relay", "splicer", "files"))):
            measured, own, waited = self.durations(how, "--for", operation)
            for program in programs:
                with self.subTest(program):
                    self.assertLess(measured(operation, program), own[program] + 0.1)
            if how == "receives":
                self.assertGreaterEqual(measured(operation, "edges"), (own["edges"] - waited["edges"]) / 2)

    def durations(self, how, *options):
        """Of the programs in WAITS: a function of operation and program; what they measured themselves; how long they were ready
        to run without a processor, as the kernel says."""
        script = self.folder / "waits.py"
        script.write_text(WAITS)
        self.out.unlink(missing_ok=True)
        lines = self.run_measured(PYTHON, script, how, options=options).stdout.splitlines()
        events = self.events()

        def seconds(operation, program):
            found = [event["sum"] for event in events if event["type"] == "lifeline.summary" and event["field"] == "duration" and
                     event["type_"] == operation and event["program"] == program]
            self.assertTrue(found)
            return sum(found) / 1e9
        said = [line.split() for line in lines]
        return seconds, {program: float(spent) for program, spent, _ in said}, {program: float(waited) for program, _, waited in said}

    def test_a_stalled_program_is_reported_while_it_stalls(self):
        process = self.start(HABITS, "stall", self.folder, options=["--interval", "1s"], stdout=subprocess.PIPE)
        process.stdout.readline()

        def stalled():
            found = [event for event in self.events() if event["type"] == "io.target" and event["operation"] == "pipe.read"]
            return len(found) > 1 and all(event["open"] == 1 and event["count"] == 0 for event in found)
        wait_for(stalled, "no report of the stalled read")
        wait_for(lambda: any(event["type"] == "lifeline.open" and event["type_"] == "pipe.read" for event in self.events()),
                 "no lifeline.open")

    def test_an_activation_switches_on_every_operation(self):
        data = self.folder / "data"
        self.run_measured("/bin/dd", "if=/dev/zero", f"of={data}", "bs=1000", "count=20", "status=none",
                          environment={"LIFELINE_RESOLUTION": "disk.write full"})
        events = self.events()
        name = {event["target"]: event["name"] for event in events if event["type"] == "io.name"}
        ended = {event["id"]: event["value"] for event in events if event["type"] == "disk.write.end"}
        operations = [event for event in events if event["type"] == "io.operation"]
        self.assertEqual(len(operations), 20)
        self.assertEqual({event["id"] for event in events if event["type"] == "disk.write.start"}, set(ended))
        for event in operations:
            self.assertEqual((ended[event["id"]], event["result"], name[event["target"]]), (1000, 1000, str(data)))

    def test_names_are_hashed_hidden_and_redacted(self):
        def names(*options):
            self.out.unlink(missing_ok=True)
            self.run_measured("/bin/cat", "/etc/hostname", "/etc/passwd", options=options)
            return self.targets("disk.read")
        key = self.folder / "key"
        hashed = ["--names", "hash", "--key-file", key]
        first, again = names(*hashed), names(*hashed)
        self.assertEqual(set(first), set(again))
        self.assertRegex(key.read_text(), r"^[0-9a-f]{32}\n$")
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.assertTrue(all(re.fullmatch("#[0-9a-f]{16}", name) for name in first))
        key.write_text("0" * 32 + "\n")
        self.assertFalse(set(first) & set(names(*hashed)))
        self.assertEqual(set(names("--names", "none")), {"(not named)"})
        self.assertEqual(set(names("--redact", "/etc/pass*")), {"/etc/hostname", "(redacted)"})
        self.assertNotIn(b"/etc/passwd", self.out.read_bytes())
        self.assertEqual(names("--targets", "0"), {})
        self.assertEqual(self.caliper("disk.read")[0], 2)

    def test_long_and_removed_names_are_redacted(self):
        folder = "x" * 200
        (self.folder / folder / folder).mkdir(parents=True)
        script = ("import os\n"
                  "for path in ('{0}/{0}/long.key', 'removed.key', 'linked.key'):\n"
                  "    with open(path, 'wb', 0) as file:\n"
                  "        os.link(path, 'other') if path == 'linked.key' else None\n"
                  "        os.unlink(path) if path != '{0}/{0}/long.key' else None\n"
                  "        file.write(b'word')").format(folder)
        self.run_measured(PYTHON, "-c", script, options=["--redact", "*.key"], cwd=self.folder)
        self.assertEqual(set(self.targets("disk.write")), {"(redacted)"})

    def test_more_files_than_targets_are_summed_up(self):
        for i in range(50):
            (self.folder / f"file{i}").write_text("x" * 10)
        self.run_measured("/bin/cat", *(self.folder / f"file{i}" for i in range(50)), options=["--targets", "20"])
        found = self.targets("disk.read")
        self.assertLessEqual(len(found), 21)
        self.assertEqual(sum(sums["nbytes"] for sums in found.values()), 500)
        self.assertGreaterEqual(found["(others)"]["count"], 30)

    def test_files_that_are_only_opened_leave_room_for_others(self):
        read = [self.folder / f"read{i}" for i in range(5)]
        for file in [self.folder / f"opened{i}" for i in range(50)] + read:
            file.write_text("word")
        script = f"import os\nfor i in range(50): os.open('{self.folder}/opened%d' % i, os.O_RDONLY)\n" \
                 f"for i in range(5): os.read(os.open('{self.folder}/read%d' % i, os.O_RDONLY), 9)"
        self.run_measured(PYTHON, "-S", "-E", "-c", script, options=["--targets", "40"])
        self.assertLessEqual({str(file) for file in read}, set(self.targets("disk.read")))

    def test_a_path_is_redacted_that_was_opened_when_there_was_no_room_for_its_name(self):
        for file in [self.folder / f"opened{i}" for i in range(50)] + [self.folder / "plain"]:
            file.write_text("word")
        (self.folder / "linked.key").symlink_to("plain")
        script = f"import os\nfor i in range(50): os.open('{self.folder}/opened%d' % i, os.O_RDONLY)\n" \
                 f"os.read(os.open('{self.folder}/linked.key', os.O_RDONLY), 9)"
        self.run_measured(PYTHON, "-S", "-E", "-c", script, options=["--targets", "40", "--redact", "*.key"])
        names = self.targets("disk.read")
        self.assertEqual(names["(redacted)"]["nbytes"], 4)
        self.assertNotIn(str(self.folder / "plain"), names)

    def test_the_librarys_own_traffic_is_not_measured(self):
        """The broker gets what is measured; io.target goes to a file on a route of its own, too, where the test reads it."""
        for kind in ("nats", "kafka"):
            with self.subTest(kind):
                folder = self.folder / kind
                subprocess.run([ROOT / "scripts/broker", "start", kind, "--dir", folder], check=True, stdout=subprocess.DEVNULL)
                self.addCleanup(subprocess.run, [ROOT / "scripts/broker", "stop", "--dir", folder], check=True, stdout=subprocess.DEVNULL)
                url = re.search("LIFELINE_URL=(.*)", (folder / "broker.env").read_text())[1].strip("'\"")
                subprocess.run([BIN / "lifeline-setup", "--url", url], check=True, stdout=subprocess.DEVNULL)
                routes = {"LIFELINE_ROUTES": f"copy=file://{self.out}", "LIFELINE_RESOLUTION": "io.target full route=copy",
                          "LIFELINE_BUDGET_BYTES": "33554432"}
                self.run_measured(HABITS, "slow", self.folder, options=["--interval", "1s"], url=url, environment=routes)
                self.run_measured(HABITS, "fork", self.folder, url=url, environment=routes)
                events = [event for event in self.events() if event["type"] == "io.target"]
                written = self.targets("disk.write", "preload-habits", events)
                self.assertEqual({Path(name).name: sums["count"] for name, sums in written.items()},
                                 {"slow": 25, "parent": 20, "child": 300, "grandchild": 50})
                self.assertEqual({event["operation"] for event in events}, {"disk.write"})
                self.out.unlink()


class Unharmed(Preloaded):
    """Each habit checks itself; here is what was measured of it."""

    def habit(self, name, *more, options=("--interval", "1s"), **others):
        done = self.run_measured(HABITS, name, self.folder, *more, options=options, **others)
        self.assertNotIn("habits: line", done.stderr)
        return done

    def written(self, name, **more):
        return self.targets("disk.write", "preload-habits", **more)[str(self.folder / name)]["count"]

    def test_results_and_errno_are_those_of_the_calls(self):
        self.assertEqual(self.habit("errno").stderr, "")

    def test_children_are_measured_if_they_work_and_the_parent_once(self):
        self.habit("fork")
        self.assertEqual((self.written("parent"), self.written("child"), self.written("grandchild")), (20, 300, 50))
        unseen = [event for event in self.events() if event["type"] == "io.unseen"]
        self.assertEqual(tuple(sum(event[key] for event in unseen) for key in ("children", "operations", "nbytes")), (1, 3, 300))
        self.assertEqual(self.caliper("disk.write")[0], 20 + 3 * (100 - 16) + 50 - 16)
        emitters = {event["pid"] for event in self.events()}
        self.assertEqual(len(emitters), 5)  # none is a child that only execs

    def test_a_child_of_vfork_changes_nothing_of_its_parents(self):
        self.habit("vfork")
        self.assertEqual((self.written("one"), self.written("other")), (2, 2))

    def test_cancellation_is_as_before(self):
        self.habit("cancel")
        reads = [event for event in self.events() if event["type"] == "io.target" and event["operation"] == "pipe.read"]
        self.assertEqual(reads[-1]["open"], 0)

    def test_a_thread_is_cancelled_while_it_starts_the_emitter(self):
        self.habit("asynchronous")

    def test_calls_with_bad_pointers_end_as_without(self):
        plain = subprocess.run([POINTERS, self.folder], stdout=subprocess.PIPE, check=True, text=True).stdout
        for options in ((), ("--emitters", "long")):
            with self.subTest(options):
                self.assertEqual(self.run_measured(POINTERS, self.folder, options=options).stdout, plain)

    def test_a_signal_handler_on_a_small_stack_may_write(self):
        handled = int(self.habit("signal").stdout.split()[1])
        self.assertEqual((self.written("handler"), self.written("main")), (handled, 50000))

    def test_a_handler_does_not_start_the_emitter(self):
        self.habit("handler")
        self.assertEqual((self.written("handler"), self.written("child"), self.written("main")), (40, 20, 20))
        self.assertEqual(self.caliper("disk.write")[0], 40)  # of the other calls

    def test_a_program_that_takes_signals_only_while_it_waits_is_measured(self):
        for what in ("all", "disk"):
            with self.subTest(what):
                self.out.unlink(missing_ok=True)
                self.habit("masked", options=["--for", what] if what != "all" else ())
                self.assertEqual((self.written("data"), self.caliper("disk.write")[0]), (50, 30))

    def test_a_handler_that_opens_files_while_programs_are_started_gets_its_own(self):
        self.habit("spawn")
        self.assertEqual(self.written("data"), 1)

    def test_a_thread_with_a_small_stack_may_be_the_first_to_work(self):
        self.habit("little")

    def test_a_program_that_locks_its_memory_has_little_more_of_it(self):
        plain = subprocess.run([HABITS, "locked", self.folder], stdout=subprocess.PIPE, check=True, text=True)
        if plain.stdout.startswith("locked 0 "):
            self.skipTest("this user may lock no memory")
        more = int(self.habit("locked").stdout.split()[3]) - int(plain.stdout.split()[3])
        self.assertLess(more, 72_000_000)

    def test_many_threads(self):
        done = subprocess.run(self.command(HABITS, "threads", self.folder, 20000), env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        if done.returncode == 77:
            self.skipTest(f"the machine allows no 20,000 threads: {done.stdout}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.written("all"), 40000)

    def test_many_descriptors(self):
        count = min(50000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200)  # as many as the machine allows
        if count < 1000:
            self.skipTest(f"the limit of descriptors allows {count}")
        self.assertEqual(self.habit("descriptors", count).stdout, f"descriptors {count}\n")
        self.assertEqual((self.written("first"), self.written("second")), (count, count))

    def test_a_descriptor_replaced_behind_our_back_is_right_in_the_next_interval(self):
        self.habit("behind")
        before, after = self.written("before"), self.written("after")
        self.assertEqual(before + after, 22)
        self.assertEqual((before, after), (15, 7))

    def test_no_descriptor_of_the_library_is_in_the_way(self):
        self.habit("close")
        self.assertEqual((self.written("data"), self.written("again"), self.written("more")), (5, 5, 997))

    def test_a_seccomp_filter_is_announced_and_not_violated(self):
        for name in ("seccomp", "sandbox"):
            with self.subTest(name):
                self.out.unlink(missing_ok=True)
                said = self.habit(name).stderr
                self.assertIn("installs a seccomp filter; it is not measured from now on", said)
                self.assertEqual(self.written("data"), 20)

    def test_what_is_executed_under_a_filter_is_started_without_the_preload(self):
        self.assertEqual(self.habit("executed").stdout, "\n")
        self.assertEqual(self.written("data"), 20)

    def test_a_plugin_may_bring_libseccomp(self):
        plugin, source = self.folder / "plugin.so", self.folder / "plugin.c"
        source.write_text("void *seccomp_init(unsigned action);\nint seccomp_load(const void *filter);\n"
                          "int load(void) { return seccomp_load(seccomp_init(0x7fff0000)); }\n")  # which allows all
        built = subprocess.run(["cc", "-shared", "-fPIC", "-o", plugin, source, "-l:libseccomp.so.2"], stderr=subprocess.DEVNULL, check=False)
        if built.returncode != 0:
            self.skipTest("there is no libseccomp")
        done = self.run_measured(PYTHON, "-c", f"import ctypes; print(ctypes.CDLL('{plugin}').load())")
        self.assertEqual(done.stdout, "0\n")
        self.assertIn("installs a seccomp filter", done.stderr)

    def test_no_thread_of_the_library_is_left_under_a_filter(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            self.habit("filtered", url=f"nats://127.0.0.1:{unused.getsockname()[1]}")

    def test_a_program_may_enter_namespaces_that_threads_must_not(self):
        if subprocess.run([HABITS, "namespaces", self.folder], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("this user may not make a user namespace")
        self.assertIn("enters a user, mount or time namespace; it is not measured from now on", self.habit("namespaces").stderr)
        self.assertEqual(self.written("data"), 20)

    def test_a_call_that_the_programs_own_threads_forbid_does_not_end_the_measuring(self):
        self.assertEqual(self.habit("shared").stderr, "")
        self.assertEqual(self.written("data"), 30)

    def test_a_table_of_descriptors_is_left_as_without_the_preload(self):
        self.assertEqual(self.habit("table").stderr, "")
        self.assertEqual(self.habit("shared-table").stderr, "")

    def test_limits_of_memory_leave_the_program_what_it_asked_for(self):
        self.habit("limits")
        self.assertEqual(self.written("child"), 50)

    def test_a_small_limit_of_file_sizes_is_survived(self):
        done = subprocess.run(self.command("/bin/cat", "/etc/hostname"), env=self.environment, timeout=60, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual((done.returncode, done.stdout), (0, Path("/etc/hostname").read_text()))
        self.assertIn("events do not survive a crash of this program", done.stderr)
        self.assertEqual(self.caliper("disk.read")[0], 1)

    def test_what_came_before_an_exec_is_delivered(self):
        self.habit("exec")
        self.assertEqual(self.written("before"), 20)
        self.assertEqual(self.targets("other.read", "dd")["/dev/zero"]["nbytes"], 10)

    def test_a_program_is_measured_after_an_exec_of_what_is_not_there(self):
        self.habit("missing")
        self.assertEqual(self.written("after"), 20)

    def test_an_exec_of_a_fifo_fails_as_without(self):
        self.habit("fifo")

    def test_a_daemon_is_measured(self):
        self.habit("daemon")
        later = str(self.folder / "later")
        wait_for(lambda: self.targets("disk.write").get(later, {}).get("count") == 20, "the daemon's writes")
        self.assertEqual((self.written("before"), self.written("after")), (20, 20))

    def test_a_program_that_gives_up_its_user_runs_on(self):
        if os.getuid() != 0:
            self.skipTest("only root can change its user")
        self.folder.chmod(0o777)
        done = subprocess.run(self.command(HABITS, "user", self.folder), env=self.environment, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual((done.returncode, (self.folder / "data").stat().st_size), (0, 2000))

    def test_a_program_may_keep_capabilities_over_a_change_of_user(self):
        if os.getuid() != 0:
            self.skipTest("only root can change its user")
        why = "has kept capabilities over a change of user; it is not measured from now on"
        self.folder.chmod(0o777)
        self.assertIn(why, self.habit("keep").stderr)
        self.assertEqual(self.written("data"), 20)
        for user in (["--reuid", "65534", "--clear-groups"], ["--reuid", "65534", "--regid", "65534", "--init-groups"],
                     ["--regid", "65534", "--clear-groups", "--bounding-set=-all"]):
            words = ["setpriv", *user, "id"]
            with self.subTest(words):
                plain = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout
                self.assertEqual(self.run_measured(*words).stdout, plain)

    def test_an_unreachable_broker_costs_half_a_second_at_most_at_the_end(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"nats://127.0.0.1:{unused.getsockname()[1]}"
        done = self.run_measured("/bin/cat", "/etc/hostname", url=url)
        self.assertEqual(done.stdout, Path("/etc/hostname").read_text())

    def test_no_line_of_ours_reaches_what_a_program_puts_on_standard_error(self):
        kept = self.folder / "kept"
        said = self.habit("stderr", options=["--interval", "1s"], url="file:///nonexistent/x").stderr
        self.assertEqual((said, kept.read_bytes()), ("", b"mine\n"))

    def test_without_a_url_nothing_is_loaded_or_said(self):
        preload = BIN.parent / "lib/lifeline-preload/liblifeline-preload.so"
        done = subprocess.run([HABITS, "close", self.folder], env=self.environment | {"LD_PRELOAD": str(preload)}, timeout=60,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertFalse(self.rings.exists())

    def test_a_bad_setting_is_one_line_and_the_program_runs(self):
        preload = BIN.parent / "lib/lifeline-preload/liblifeline-preload.so"
        done = subprocess.run(["/bin/echo", "fine"], timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True,
                              env=self.environment | {"LD_PRELOAD": str(preload), "LIFELINE_URL": "null:", "LIFELINE_RUN_FOR": "discs"})
        self.assertEqual((done.returncode, done.stdout), (0, "fine\n"))
        self.assertRegex(done.stderr, r'^lifeline: warning: echo: unknown operation "discs".*; the program is not measured\n$')


class Command(Preloaded):

    def run_command(self, *arguments, **more):
        return subprocess.run([BIN / "lifeline-run", *map(str, arguments)], env=self.environment, timeout=60, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, **more)

    def test_wrong_usage_is_status_2(self):
        url = ("--url", f"file://{self.out}")
        for arguments, says in (([], "no program"), (["true"], "no sink"), (["--what"], "unknown or incomplete"),
                                ([*url, "--for", "discs", "true"], 'unknown operation "discs"'),
                                ([*url, "--names", "short", "true"], "must be full, hash or none"),
                                ([*url, "--targets", "5000", "true"], "from 0 to 1024"),
                                ([*url, "--interval", "100ms", "true"], "from 1s to 1h"),
                                ([*url, "--redact", "a:b", "true"], "a pattern has a colon")):
            done = self.run_command(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(says, done.stderr)

    def test_the_status_is_the_programs(self):
        self.run_measured("/bin/sh", "-c", "exit 7", status=7)
        self.assertEqual(self.run_command("--url", "null:", "/nonexistent").returncode, 127)
        self.assertEqual(self.run_command("--url", "null:", "/etc/passwd").returncode, 126)
        process = self.start("/bin/sh", "-c", "kill -TERM $$")
        self.assertEqual(process.wait(60), -signal.SIGTERM)

    def test_other_preloads_stay(self):
        other = self.folder / "other.so"
        source = self.folder / "other.c"
        source.write_text("#include <unistd.h>\nint getpagesize(void) { return 7; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", other, source], check=True)
        done = self.run_measured(PYTHON, "-c", "import ctypes; print(ctypes.CDLL(None).getpagesize())", environment={"LD_PRELOAD": str(other)})
        self.assertEqual(done.stdout, "7\n")

    def test_a_program_that_wraps_the_same_calls_is_served(self):
        """Its wrapper comes before libc's function and after ours: both see each call."""
        other, source, log = self.folder / "other.so", self.folder / "other.c", self.folder / "calls"
        source.write_text('#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\nint counted;\n'
                          'ssize_t write(int fd, const void *from, size_t bytes) {\n'
                          '  counted++;\n  return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, from, bytes);\n}\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", other, source], check=True)
        done = self.run_measured(PYTHON, "-c", f"import ctypes, os\nfd = os.open('{log}', os.O_CREAT | os.O_WRONLY)\nfor i in range(9): os.write(fd, b'x')\n"
                                 f"print(ctypes.c_int.in_dll(ctypes.CDLL('{other}'), 'counted').value)", environment={"LD_PRELOAD": str(other)})
        self.assertGreaterEqual(int(done.stdout), 9)
        self.assertEqual(self.targets("disk.write")[str(log)]["count"], 9)

    def test_a_preload_that_makes_one_exec_from_another_is_served(self):
        other, source = self.folder / "other.so", self.folder / "other.c"
        source.write_text('#include <unistd.h>\nextern char **environ;\n'
                          'int execve(const char *path, char *const words[], char *const variables[]) {\n'
                          '  environ = (char **)variables;\n  return execv(path, words);\n}\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", other, source], check=True)
        for start in ("os.execv('/bin/echo', ['echo', 'ran'])", "os.execve('/bin/echo', ['echo', 'ran'], os.environ)"):
            with self.subTest(start):
                done = self.run_measured(PYTHON, "-c", f"import os; {start}", environment={"LD_PRELOAD": str(other)})
                self.assertEqual(done.stdout, "ran\n")

    def test_what_cannot_be_measured_is_said_and_run(self):
        source = self.folder / "static.c"
        source.write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 3; }\n')
        static = self.folder / "static"
        subprocess.run(["cc", "-static", "-o", static, source], check=True)
        script = self.folder / "script"
        script.write_text(f"#!{static}\n")
        script.chmod(0o755)
        for program in (static, script):
            done = self.run_command("--url", "null:", program)
            self.assertEqual((done.returncode, done.stdout), (3, "ran\n"))
            self.assertRegex(done.stderr, "^lifeline-run: warning: .* is not measured: it is linked statically.*; use lifeline-probe\n$")
        for path in ("", "/nonexistent:", ":/bin"):  # an empty element is the current directory
            done = subprocess.run([BIN / "lifeline-run", "--url", "null:", "static"], env=self.environment | {"PATH": path}, cwd=self.folder,
                                  timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (3, "ran\n"))
            self.assertIn("is not measured: it is linked statically", done.stderr)

    def test_a_program_with_a_sanitizer_is_said_and_run_without_the_preload(self):
        source = self.folder / "checked.c"
        source.write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 3; }\n')
        checked = self.folder / "checked"
        if subprocess.run(["gcc", "-fsanitize=address", "-o", checked, source], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("gcc has no AddressSanitizer here")
        done = self.run_command("--url", "null:", checked)
        self.assertEqual((done.returncode, done.stdout), (3, "ran\n"), done.stderr)
        self.assertIn("is not measured: it is built with a sanitizer", done.stderr)

    def test_children_that_could_not_start_with_the_preload_are_started_without(self):
        """musl's loader, here glibc's under its name, gets no preload; other children get it as before."""
        source, loader = self.folder / "other.c", self.folder / ("long" * 20) / "ld-musl-x86_64.so.1"
        source.write_text('#include <stdio.h>\n#include <stdlib.h>\n'
                          'int main(void) { const char *list = getenv("LD_PRELOAD"); puts(list ? list : "none"); return 3; }\n')
        interpreter = re.search(rb"/lib[^\0]*/ld-linux[^\0]*", Path("/bin/true").read_bytes())[0].decode()
        loader.parent.mkdir()
        loader.symlink_to(interpreter)
        subprocess.run(["cc", "-o", self.folder / "other", source, f"-Wl,--dynamic-linker={loader}"], check=True)
        subprocess.run(["cc", "-o", self.folder / "same", source], check=True)
        for start in ("os.spawnv(os.P_WAIT, {0!r}, ['x'])", "os.waitpid(os.posix_spawn({0!r}, ['x'], os.environ), 0)[1] >> 8",
                      "__import__('subprocess').run([{0!r}]).returncode", "os.system({0!r}) >> 8"):
            with self.subTest(start):
                script = "import os, sys; sys.exit(" + start.format(str(self.folder / "other")) + ")"
                self.assertEqual(self.run_measured(PYTHON, "-c", script, status=3).stdout, "\n")
                script = script.replace("/other", "/same")
                self.assertIn("/liblifeline-preload.so\n", self.run_measured(PYTHON, "-c", script, status=3).stdout)
        preload = BIN.parent / "lib/lifeline-preload/liblifeline-preload.so"
        done = subprocess.run([PYTHON, "-c", script.replace("/same", "/other")], env=self.environment | {"LD_PRELOAD": str(preload)}, timeout=60,
                              stdout=subprocess.PIPE, text=True, check=False)  # without a sink nothing is measured
        self.assertEqual((done.returncode, done.stdout), (3, "\n"))
        done = self.run_command("--url", "null:", self.folder / "other")
        self.assertEqual((done.returncode, done.stdout), (3, "none\n"))
        self.assertIn("is not measured: it is built for musl", done.stderr)

    def test_scripts_that_interpret_each_other_are_refused_as_without(self):
        one, other = self.folder / "one", self.folder / "other"
        for script, interpreter in ((one, other), (other, one)):
            script.write_text(f"#!{interpreter}\n")
            script.chmod(0o755)
        self.assertEqual(self.run_command("--url", "null:", one).returncode, 126)

    def test_a_set_user_id_program_is_said_and_run(self):
        if os.getuid() != 0:
            self.skipTest("only root can make another user's set-user-ID program")
        program = self.folder / "id"
        shutil.copy("/usr/bin/id", program)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        done = self.run_command("--url", "null:", program, "-u")
        if done.stdout == "0\n":
            self.skipTest("the filesystem is mounted nosuid")
        self.assertEqual(done.stdout, "65534\n")
        self.assertIn("is not measured: it runs with the rights of another user", done.stderr)

    def test_hostile_files_are_executed_or_refused_as_without(self):
        header = bytearray(Path("/bin/true").read_bytes()[:64])
        for offset in (32, 40, 54, 56, 58, 60, 62):  # offsets, sizes and counts of the tables
            broken = bytearray(header)
            broken[offset:offset + 2] = b"\xff\xff"
            program = self.folder / "broken"
            program.write_bytes(broken)
            program.chmod(0o755)
            without = subprocess.run(["/usr/bin/env", program], cwd=self.folder, stderr=subprocess.DEVNULL, check=False)
            self.assertEqual(self.run_command("--url", "null:", program, cwd=self.folder).returncode, without.returncode)
            program.unlink()

    def test_a_key_that_others_can_read_is_refused(self):
        key = self.folder / "key"
        key.write_text("0" * 32)
        key.chmod(0o644)
        done = self.run_command("--url", "null:", "--names", "hash", "--key-file", key, "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("chmod 600", done.stderr)


if __name__ == "__main__":
    unittest.main()
