"""The runner of tests itself: which failures it repeats, what it reads of reports, and that it leaves nothing running."""

import json
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.sax.saxutils
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from testing import repeat, reports  # noqa: E402
from testing.__main__ import run  # noqa: E402
from testing.command import ENDING, Commands, lock  # noqa: E402
from testing.results import Counts, Failure, Group  # noqa: E402
from testing import pressure, schedule  # noqa: E402
from testing.schedule import WAITING, WORKING, run_all  # noqa: E402


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def group(command="true", name="a"):
    return Group(name, command, reports.tap)


class WhatIsNeverRepeated(unittest.TestCase):
    def verdict(self, text):
        return Failure("a", "", text, group()).never_repeated

    def test_a_unit_test(self):
        self.assertEqual("no system test", Failure("a", "too late").never_repeated)

    def test_what_tools_say_of_defects(self):
        for kind, text in [
            ("sanitizer", "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1"),
            ("sanitizer", "WARNING: ThreadSanitizer: data race (pid=1)"),
            ("sanitizer", "emitter/src/a.c:3:4: runtime error: signed integer overflow"),
            ("crash", "Test failed with exception: Segmentation fault(11)"),
            ("crash", "panic: runtime error: index out of range"),
            ("crash", "The forked VM terminated without saying properly goodbye."),
            ("hang", "java.util.concurrent.TimeoutException: stops() timed out after 5 minutes"),
            ("hang", "*** Test killed with quit: ran too long (11m0s)."),
            ("crash", "the program ended: signal: segmentation fault (core dumped)"),
            ("crash", "CRASHED: child process died: Aborted"),
            ("crash", "    a_test.go:9: panic: nil map"),
            ("hang", "panic: test timed out after 18m0s"),
            ("books", "    a_test.go:3: wrong books: missing=4"),
            ("decoding", "[wrong decoding: the third event] expected: 1 but was: 2"),
        ]:
            with self.subTest(text):
                self.assertEqual(kind, self.verdict(text))

    def test_but_a_late_broker_is(self):
        self.assertIsNone(self.verdict("the server did not answer within 60 s"))


class Repeating(InAFolder):
    def setUp(self):
        super().setUp()
        record = mock.patch.object(repeat, "RECORD", self.folder / "flaky.json")
        record.start()
        self.addCleanup(record.stop)
        self.commands = Commands()

    def repeated(self, command, **failure):
        counts = Counts(passed=1, failures=[Failure("a", "late", group=group(command), **failure)])
        return counts, repeat.repeat(counts, self.commands, self.folder)

    def test_what_passes_alone_counts_as_passed_and_is_named(self):
        counts, flaky = self.repeated("echo ok - a")
        self.assertEqual((2, []), (counts.passed, counts.failures))
        self.assertEqual(["flaky: a (1 of 2)"], list(map(str, flaky)))

    def test_tests_that_a_failure_kept_from_running_count_when_they_pass(self):
        counts = Counts(failures=[Failure("A", "no broker", group=group("for name in a b c; do echo ok - $name; done"))])
        counts.succeed(counts.failures[0].group)  # one of the three ran
        repeat.repeat(counts, self.commands, self.folder)
        self.assertEqual((3, []), (counts.passed, counts.failures))

    def test_the_second_attempt_is_the_last(self):
        mark = self.folder / "attempts"
        counts, flaky = self.repeated(f"echo x >>'{mark}'; [ $(wc -l <'{mark}') -ge 2 ] && echo ok - a || echo not ok - a")
        self.assertEqual(["flaky: a (2 of 2)"], list(map(str, flaky)))
        mark.unlink()
        counts, flaky = self.repeated(f"echo x >>'{mark}'; [ $(wc -l <'{mark}') -ge 3 ] && echo ok - a || echo not ok - a")
        self.assertEqual((1, [], "x\nx\n"), (len(counts.failures), flaky, mark.read_text()))

    def test_what_ran_no_test_has_not_passed(self):
        counts, flaky = self.repeated("true")
        self.assertEqual((1, []), (len(counts.failures), flaky))

    def test_what_passes_in_its_report_and_exits_with_an_error_has_not_passed(self):
        counts, flaky = self.repeated("echo ok - a; exit 3")
        self.assertEqual((1, []), (len(counts.failures), flaky))

    def test_what_is_skipped_has_not_passed(self):
        counts, flaky = self.repeated("echo ok - other; echo 'ok - a # skip no broker'")
        self.assertEqual((1, []), (len(counts.failures), flaky))

    def test_wrong_books_are_not_run_again(self):
        mark = self.folder / "ran"
        counts, flaky = self.repeated(f"touch {shlex.quote(str(mark))}; echo ok - a", output="wrong books: missing=1")
        self.assertEqual((1, [], False), (len(counts.failures), flaky, mark.exists()))

    def test_wrong_books_of_a_repetition_end_it(self):
        mark = self.folder / "attempts"
        command = f"echo x >>'{mark}'; printf 'not ok - a\\n# wrong books: missing=1\\n'"
        counts, flaky = self.repeated(command)
        self.assertEqual(([], "x\n"), (flaky, mark.read_text()))
        self.assertIn("books", [failure.never_repeated for failure in counts.failures])

    def flaky(self, *names):
        return {"stage": [repeat.Flaky(name, 1, "late") for name in names]}

    def test_three_flaky_tests_are_let_pass_and_four_are_not(self):
        self.assertEqual([], repeat.judge(self.flaky("a", "b", "c"), ["stage"]).failures)
        self.assertEqual(1, len(repeat.judge(self.flaky("d", "e", "f", "g"), ["stage"]).failures))

    def test_the_same_flaky_test_in_two_runs_in_a_row_fails_the_second(self):
        repeat.judge(self.flaky("a"), ["stage"])
        repeat.judge({}, ["another stage"])  # says nothing about this one
        self.assertEqual(["a"], [failure.name for failure in repeat.judge(self.flaky("a"), ["stage"]).failures])
        repeat.judge({}, ["stage"])
        self.assertEqual([], repeat.judge(self.flaky("a"), ["stage"]).failures)


class Stages(InAFolder):
    def run_stage(self, command, count=reports.tap, explained=("exit code 1",)):
        stage = mock.Mock(command=command, log=self.folder / "log", limit_s=1, count=count, explained=explained)
        stage.name = "stage"
        return [str(failure) for failure in run(stage, Commands(), None).counts.failures]

    def test_a_failed_test_explains_the_exit_code_of_its_tool_and_nothing_else(self):
        self.assertEqual(["a"], self.run_stage("echo not ok - a; exit 1"))
        self.assertEqual(["a", "stage: exit code 9"], self.run_stage("echo not ok - a; exit 9"))
        self.assertEqual(["a", "stage: killed by signal 9"], self.run_stage("echo not ok - a; kill -9 $$"))
        self.assertEqual(["a", "stage: hangs: not done after 1 s"], self.run_stage("echo not ok - a; sleep 100"))

    def test_a_stage_without_tests_or_with_a_broken_report_has_failed(self):
        self.assertEqual(["stage: no test ran"], self.run_stage("true"))
        broken = self.written("TEST-a.xml", "<testsuite><testcase")
        self.assertIn("cannot be read", self.run_stage("true", lambda _log: reports.junit([broken]))[0])


class Reports(InAFolder):
    def test_junit_tells_system_tests_by_their_folder(self):
        path = self.written("TEST-io.A.xml", """<testsuite><testcase classname="io.A" name="good"/>
            <testcase classname="io.A" name="bad"><failure message="no  answer" type="X">trace</failure></testcase>
            <testcase classname="io.A" name="left"><skipped/></testcase></testsuite>""")
        unit, system = reports.junit([path]), reports.junit([path], lambda _path, name: f"run {name}")
        self.assertEqual((1, 1, "io.A bad: no answer"), (unit.passed, unit.skipped, str(unit.failures[0])))
        self.assertIsNone(unit.failures[0].group)
        self.assertEqual(("io.A", "run io.A"), (system.failures[0].group.name, system.failures[0].group.command))  # two modules may have an A

    def ctest(self, output, failed=False):
        ended = '<failure message=""/>' if failed else ""
        tests = self.written("tests.json", json.dumps({"tests": [
            {"name": "sink-nats", "properties": [{"name": "LABELS", "value": ["system"]}, {"name": "TIMEOUT", "value": 600.0}]}]}))
        return reports.ctest("asan", self.written("ctest.xml", f"""<testsuite><testcase name="sink-nats">{ended}
            <system-out>{output}</system-out></testcase></testsuite>"""), tests)

    def test_a_cmocka_program_counts_through_its_tests(self):
        counts = self.ctest("[==========] Running\n[ RUN      ] a\nno answer\n[  FAILED  ] a\n[  PASSED  ] 2 test(s).\n"
                            "[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] a\n", failed=True)
        self.assertEqual((2, "asan: sink-nats a: no answer"), (counts.passed, str(counts.failures[0])))
        self.assertIsNone(counts.failures[0].never_repeated)

    def test_a_c_program_that_crashes_or_hangs_is_not_repeated(self):
        counts = self.ctest("[ RUN      ] a\n", failed=True)  # CTest's JUnit file says no more of either
        self.assertEqual(["crash"], [failure.never_repeated for failure in counts.failures])

    def python(self, tests, end="", failed=True):
        """What CTest says of a Python program with these tests, run here; `end` is its last statement."""
        program = self.written("a_test.py", f"import os, unittest\n\nclass A(unittest.TestCase):\n{tests}\n"
                                            f"unittest.main(verbosity=2, exit={not end})\n{end}\n")
        ended = subprocess.run([sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(failed, ended.returncode != 0, ended.stdout)
        return self.ctest(xml.sax.saxutils.escape(ended.stdout), failed)

    def test_a_python_program_counts_through_its_tests(self):
        counts = self.python("""
    def test_good(self): pass
    def test_left(self): self.skipTest("no kernel")
    def test_bad(self):
        \"\"\"Has a description.\"\"\"
        self.assertGreater(1, 2, "of a\\nvalue")
    def test_broken(self): os.stat("/nonexistent")
    def test_in_parts(self):
        for part in (1, 2, 3):
            with self.subTest(part=part):
                self.assertEqual(1, part)
""")
        self.assertEqual((1, 1), (counts.passed, counts.skipped))
        self.assertEqual(["asan: sink-nats A.test_bad: AssertionError: 1 not greater than 2 : of a value",
                          "asan: sink-nats A.test_broken: FileNotFoundError: [Errno 2] No such file or directory: '/nonexistent'",
                          "asan: sink-nats A.test_in_parts (part=2): AssertionError: 1 != 2",
                          "asan: sink-nats A.test_in_parts (part=3): AssertionError: 1 != 3"], sorted(map(str, counts.failures)))
        self.assertEqual({None}, {failure.never_repeated for failure in counts.failures})
        self.assertEqual((1, 0, []), self.numbers(self.python("    def test_good(self): pass", failed=False)))

    def numbers(self, counts):
        return counts.passed, counts.skipped, [failure.never_repeated for failure in counts.failures]

    def test_a_python_program_that_crashes_or_hangs_is_not_repeated(self):
        for tests, end in (("    def test_a(self): os.kill(os.getpid(), 9)", ""), ("    def test_a(self): pass", "os.kill(os.getpid(), 9)")):
            with self.subTest(tests):
                self.assertEqual(["crash"], self.numbers(self.python(tests, end))[2])

    def test_a_sanitizers_report_in_a_python_programs_output_is_not_repeated(self):
        counts = self.python("""    def test_a(self): self.assertEqual("==1==ERROR: AddressSanitizer: heap-use-after-free", "")""")
        self.assertEqual(["sanitizer"], self.numbers(counts)[2])

    def test_a_go_test_says_by_an_attribute_that_it_is_a_system_test(self):
        events = [{"Action": "attr", "Package": "p", "Test": "TestA", "Key": "tag", "Value": "system"},
                  {"Action": "output", "Package": "p", "Test": "TestA/x", "Output": "    a_test.go:3: no answer\n"},
                  {"Action": "fail", "Package": "p", "Test": "TestA/x"}, {"Action": "fail", "Package": "p", "Test": "TestA"},
                  {"Action": "fail", "Package": "p", "Test": "TestB"}, {"Action": "pass", "Package": "p", "Test": "TestC"},
                  {"Action": "fail", "Package": "p"}]
        counts = reports.go("loadgen", "-count=1", self.written("log", "\n".join(map(json.dumps, events))))
        self.assertEqual((1, ["p TestA/x: no answer", "p TestB"]), (counts.passed, list(map(str, counts.failures))))
        self.assertEqual("cd loadgen && go test -json -count=1 -run '^TestA$' p", counts.failures[0].group.command)
        self.assertIsNone(counts.failures[1].group)

    def test_a_go_test_that_began_and_did_not_end_has_failed(self):
        events = [{"Action": "run", "Package": "p", "Test": "TestA"}, {"Action": "fail", "Package": "p", "Test": "TestA"},
                  {"Action": "run", "Package": "p", "Test": "TestB"}, {"Action": "fail", "Package": "p"}]
        counts = reports.go("loadgen", "", self.written("log", "\n".join(map(json.dumps, events))))
        self.assertEqual(["p TestA", "p TestB: began and did not end"], list(map(str, counts.failures)))

    def test_wrong_books_are_the_reason_whatever_a_go_test_said_after_them(self):
        said = ["    a_test.go:3: wrong books: missing=4\n", "    a_test.go:4: 173 s: done\n"]
        events = [{"Action": "output", "Package": "p", "Test": "TestA", "Output": line} for line in said]
        counts = reports.go("loadgen", "", self.written("log", "\n".join(map(json.dumps, events + [
            {"Action": "fail", "Package": "p", "Test": "TestA"}]))))
        self.assertEqual(["p TestA: wrong books: missing=4"], list(map(str, counts.failures)))

    def test_what_a_go_parent_says_counts_for_its_subtests(self):
        events = [{"Action": "attr", "Package": "p", "Test": "TestA", "Key": "tag", "Value": "system"},
                  {"Action": "fail", "Package": "p", "Test": "TestA/x"},
                  {"Action": "output", "Package": "p", "Test": "TestA", "Output": "    a_test.go:3: wrong books: missing=4\n"},
                  {"Action": "fail", "Package": "p", "Test": "TestA"}]
        counts = reports.go("loadgen", "", self.written("log", "\n".join(map(json.dumps, events))))
        self.assertEqual(["books"], [failure.never_repeated for failure in counts.failures])

    def test_what_stands_before_a_tap_line_belongs_to_it(self):
        log = self.written("log", "ok - a\n==1==ERROR: AddressSanitizer: heap\nnot ok - b # system\n")
        self.assertEqual(["sanitizer"], [failure.never_repeated for failure in reports.tap(log, command="again {}".format).failures])

    def test_tap_marks_single_system_tests_or_a_page_is_one(self):
        log = self.written("log", "ok - a\nnot ok - b # system\n# no answer\nok - c # skip no engine\n")
        counts = reports.tap(log, command="again {}".format)
        self.assertEqual((1, 1, "b: no answer", "again b"),
                         (counts.passed, counts.skipped, str(counts.failures[0]), counts.failures[0].group.command))
        self.assertEqual({reports.page("README.md")}, reports.tap(log, group=reports.page("README.md")).groups)


@dataclass(frozen=True)
class Stage:
    name: str
    kind: str = WORKING
    after: tuple = ()
    alone: bool = False


class Scheduling(unittest.TestCase):
    def run_all(self, *stages, working=2, waiting=1, beside=(), has_room=lambda: True):
        """Runs the stages; each waits at a gate until those that it is to run beside have come there, too."""
        at_once, most, order, lock = [], [], [], threading.Lock()
        gate = threading.Barrier(len(beside)) if beside else None

        def run(stage):
            with lock:
                at_once.append(stage.name)
                most.append(sorted(at_once))
                order.append(stage.name)
            if stage.name in beside:
                gate.wait(30)
            with lock:
                at_once.remove(stage.name)

        with mock.patch.object(schedule, "SETTLING_S", 0):
            run_all(stages, run, lambda *_: None, {WORKING: working, WAITING: waiting}, has_room)
        return most, order

    def test_those_that_wait_run_beside_those_that_work(self):
        most, _ = self.run_all(Stage("a"), Stage("b"), Stage("c", WAITING), beside="abc")
        self.assertIn(["a", "b", "c"], most)

    def test_no_more_run_than_there_are_places(self):
        most, order = self.run_all(*[Stage(name) for name in "abcdefgh"], working=2)
        self.assertEqual((8, True), (len(order), max(map(len, most)) <= 2))

    def test_what_comes_after_others_waits(self):
        most, order = self.run_all(Stage("a", after=("b", "c")), Stage("b"), Stage("c"), working=3)
        self.assertEqual((["a"], "a"), (most[-1], order[-1]))

    def test_what_needs_the_machine_for_itself_runs_alone_and_last(self):
        most, order = self.run_all(Stage("a", alone=True), Stage("b"), Stage("c"), Stage("d", alone=True), working=9)
        self.assertEqual((["a", "d"], [["a"], ["d"]]), (order[2:], most[2:]))

    def test_no_more_start_while_processes_wait_for_a_processor(self):
        asked = []
        with mock.patch.object(schedule, "always", lambda: 2):
            most, order = self.run_all(*[Stage(name) for name in "abcdefgh"], working=9, has_room=lambda: asked.append(1))
        self.assertEqual((8, True, True), (len(order), max(map(len, most)) <= 2, bool(asked)))

    def test_an_error_in_one_is_raised(self):
        with self.assertRaises(ZeroDivisionError):
            run_all([Stage("a")], lambda _stage: 1 / 0, lambda *_: None)


class Pressure(InAFolder):
    def figures(self, text):
        with mock.patch.object(pressure, "FILE", self.written("cpu", text)):
            return pressure.is_low(), pressure.read()

    def test_it_is_what_the_kernel_says(self):
        text = "some avg10={} avg60=1.00 avg300=1.00 total=5000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
        self.assertTrue(self.figures(text.format("12.50"))[0])
        self.assertFalse(self.figures(text.format("99.00"))[0])
        self.assertEqual(5e6, self.figures(text.format("1.00"))[1]["total"])

    def test_a_kernel_without_it_is_no_error(self):
        with mock.patch.object(pressure, "FILE", self.folder / "none"):
            self.assertIn(pressure.is_low(), (True, False))
            self.assertIn("unknown", str(pressure.Meter()))


class RunningCommands(InAFolder):
    def run_command(self, command, limit_s=60, commands=None):
        return (commands or Commands()).run(command, self.folder / "log", limit_s)

    def test_how_it_ended_is_told(self):
        self.assertIsNone(self.run_command("true").problem)
        self.assertEqual("exit code 3", self.run_command("exit 3").problem)
        self.assertEqual("killed by signal 9", self.run_command("kill -9 $$").problem)

    def test_what_hangs_is_ended_with_its_children(self):
        ended = self.run_command(f"sleep 1000 & echo $! >{shlex.quote(str(self.folder))}/pid; wait", limit_s=0.5)
        self.assertEqual("hangs: not done after 0.5 s", ended.problem)
        self.assertTrue(self.is_gone((self.folder / "pid").read_text().strip()))

    def test_one_run_at_a_time(self):
        with lock(self.folder / "lock"), self.assertRaisesRegex(SystemExit, "tests run in this clone already"):
            lock(self.folder / "lock")
        lock(self.folder / "lock").close()

    def test_what_is_left_in_the_background_is_ended(self):
        self.run_command(f"sleep 1000 & echo $! >{shlex.quote(str(self.folder))}/pid")
        self.assertTrue(self.is_gone((self.folder / "pid").read_text().strip()))

    def is_gone(self, pid):
        for _ in range(600):
            try:
                if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                    return True
            except FileNotFoundError:
                return True
            time.sleep(0.05)
        return False

    def test_each_has_ports_and_a_folder_of_its_own_which_is_removed(self):
        commands, said = Commands(), self.folder / "said"
        go_on = self.folder / "go-on"
        command = (f'printf "%s\\t%s\\n" "$LIFELINE_TEST_PORTS" "$TMPDIR" >>{shlex.quote(str(said))}; '
                   f"until [ -e {shlex.quote(str(go_on))} ]; do sleep 0.02; done")
        threads = [threading.Thread(target=self.run_command, args=(command,), kwargs={"commands": commands}) for _ in range(2)]
        for thread in threads:
            thread.start()
        while not said.exists() or said.read_text().count("\n") < 2:
            time.sleep(0.02)
        go_on.touch()
        for thread in threads:
            thread.join()
        (one, first), (two, second) = [line.split("\t") for line in said.read_text().splitlines()]
        self.assertNotEqual(one, two)
        self.assertNotEqual(first, second)
        self.assertFalse(Path(first).exists())

    def test_stop_ends_what_runs_and_lets_nothing_start(self):
        for number in ENDING:  # `stop` ignores them from then on, and so would the children of later tests
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        commands, ready = Commands(), self.folder / "ready"
        ended = []
        thread = threading.Thread(target=lambda: ended.append(self.run_command(f"touch {shlex.quote(str(ready))}; sleep 1000", commands=commands)))
        thread.start()
        while not ready.exists():
            time.sleep(0.02)
        commands.stop()
        thread.join()
        self.assertEqual("interrupted", ended[0].problem)
        self.assertEqual("interrupted", self.run_command("true", commands=commands).problem)


if __name__ == "__main__":
    unittest.main()
