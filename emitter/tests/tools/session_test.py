"""lifeline-session as a shell uses it: the command runs as without it, and its events are in one session."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from batches import BIN

SESSION = re.compile(r"lifeline-session: session ([0-9a-f]{32})(?: within ([0-9a-f]{32}))?\n")
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
PATIENCE_S = 120


def until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise AssertionError(f"timed out waiting for {what}")


def default_signals():
    """In a job of the background of a script these are ignored, and so they would be in the command."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def in_a_group_with_a_parent():
    """Without one, as in a job without a terminal, the kernel ignores SIGTSTP."""
    default_signals()
    os.setpgid(0, 0)


def state_of(pid):
    """The letter of /proc/PID/stat: R running, S sleeping, T stopped, Z zombie ..."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


class Session(unittest.TestCase):
    tags = {"system"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.out = self.here / "events.llb"
        self.announced = self.here / "sessions"
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("LIFELINE") and key != "TRACEPARENT"}
        self.environment |= {"LIFELINE_URL": f"file://{self.out}", "LIFELINE_RING_DIR": f"{folder.name}/rings",
                             "LIFELINE_SESSION_DIR": str(self.announced), "BIN": str(BIN)}

    def start(self, *arguments, preexec_fn=default_signals, **options):
        process = subprocess.Popen([BIN / "lifeline-session", *map(str, arguments)], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=preexec_fn, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def run_in_session(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def batches(self):
        decoded = subprocess.run([BIN / "lifeline-decode", "--concatenated"], input=self.out.read_bytes(),
                                 stdout=subprocess.PIPE, check=True).stdout
        return [json.loads(line) for line in decoded.splitlines()]

    def events(self):
        """(type, session of the batch, {field: value}) of each."""
        for batch in self.batches():
            types = {type["number"]: type for type in batch["types"]}
            for event in batch["events"]:
                type = types[event["type"]]
                names = [field["name"] for field in type["fields"]]
                yield type["name"], dict(batch["context"]).get("session"), dict(zip(names, event["fields"]))

    def test_the_command_and_all_that_it_starts_are_in_the_session(self):
        status, out, err = self.run_in_session("--name", "two words", "--", "sh", "-c",
                                               '"$BIN/lifeline-emit" a x=1; "$BIN/lifeline-emit" b x=2; echo done')
        self.assertEqual((status, out), (0, "done\n"))
        session = SESSION.fullmatch(err).group(1)
        events = {name: (in_session, fields) for name, in_session, fields in self.events()}
        self.assertEqual({name: in_session for name, (in_session, _) in events.items()},
                         {name: session for name in ("session.start", "a", "b", "session.end")})
        self.assertEqual(events["session.start"][1] | {"traceparent": ""},
                         {"id": session, "parent": "", "name": "two words", "traceparent": ""})
        self.assertEqual(events["session.end"][1], {"id": session, "ok": True})
        self.assertEqual(list(self.announced.iterdir()), [])

    def test_a_session_in_a_session_is_its_child(self):
        status, _, err = self.run_in_session("--", BIN / "lifeline-session", "--", BIN / "lifeline-emit", "a", "x=1")
        self.assertEqual(status, 0, err)
        (outer, none), (inner, parent) = SESSION.findall(err)
        self.assertEqual((none, parent), ("", outer))
        self.assertNotEqual(inner, outer)
        self.assertIn(("a", inner), [(name, session) for name, session, _ in self.events()])
        contexts = [dict(batch["context"]) for batch in self.batches() if batch["program"] == "lifeline-emit"]
        self.assertEqual([context["parent"] for context in contexts], [outer])
        self.assertEqual([context["traceparent"][3:35] for context in contexts], [inner])

    def test_a_trace_of_others_is_joined(self):
        self.environment["TRACEPARENT"] = TRACEPARENT
        _, out, err = self.run_in_session("--", "printenv", "TRACEPARENT")
        self.assertEqual(SESSION.findall(err), [(TRACE, "")])
        self.assertRegex(out, rf"^00-{TRACE}-[0-9a-f]{{16}}-01\n$")
        self.assertNotEqual(out.strip(), TRACEPARENT)

    def test_an_invalid_trace_is_replaced(self):
        for wrong in (TRACEPARENT.upper(), TRACEPARENT + "-", "", "00-" + "0" * 32 + "-b7ad6b7169203331-01"):
            self.environment["TRACEPARENT"] = wrong
            _, out, err = self.run_in_session("--", "printenv", "TRACEPARENT")
            [(session, _)] = SESSION.findall(err)
            self.assertEqual(out[:36], f"00-{session}-")
            self.assertNotEqual(session, TRACE)

    def test_other_context_is_kept(self):
        self.environment["LIFELINE_CONTEXT"] = f"resource.rack=7,session=old,traceparent={TRACEPARENT},resource.x=y z,parent=p"
        _, out, err = self.run_in_session("--", "printenv", "LIFELINE_CONTEXT")
        [(session, _)] = SESSION.findall(err)
        self.assertEqual(out, f"resource.rack=7,resource.x=y z,session={session}\n")

    def test_the_url_is_the_commands_too(self):
        del self.environment["LIFELINE_URL"]
        status, out, _ = self.run_in_session("--url", f"file://{self.out}", "--", "printenv", "LIFELINE_URL")
        self.assertEqual((status, out), (0, f"file://{self.out}\n"))
        self.assertEqual([name for name, _, _ in self.events()], ["session.start", "session.end"])

    def test_without_a_sink_the_session_is_announced_all_the_same(self):
        del self.environment["LIFELINE_URL"]
        status, out, err = self.run_in_session("--name", "quiet", "--quiet", "--", "sh", "-c", 'cat "$LIFELINE_SESSION_DIR"/*; echo $PPID')
        self.assertEqual((status, err), (0, ""))
        name, pid, began, _, parent = out.splitlines()
        self.assertEqual((name, pid), ("name=quiet", f"pid={parent}"))
        self.assertLess(abs(int(began.removeprefix("began=")) / 1e9 - time.time()), 3600)
        self.assertEqual(list(self.announced.iterdir()), [])

    def test_json_is_one_object(self):
        _, _, err = self.run_in_session("--json", "--", BIN / "lifeline-session", "--json", "--", "true")
        outer, inner = map(json.loads, err.splitlines())
        self.assertIsNone(outer["parent"])
        self.assertEqual(inner["parent"], outer["session"])
        self.assertEqual(inner["traceparent"][3:35], inner["session"])

    def test_the_exit_status_is_that_of_the_command(self):
        for command, expected in ((["sh", "-c", "exit 42"], 42), (["sh", "-c", "kill -TERM $$"], -signal.SIGTERM),
                                  (["sh", "-c", "kill -KILL $$"], -signal.SIGKILL), (["/nonexistent"], 127), (["/"], 126)):
            status, _, err = self.run_in_session("--", *command)
            self.assertEqual(status, expected, err)
        ends = [fields["ok"] for name, _, fields in self.events() if name == "session.end"]
        self.assertEqual(ends, [False] * 5)

    def test_wrong_usage_is_status_2_and_runs_nothing(self):
        for arguments in ([], ["--"], ["--what", "true"], ["--name"]):
            status, out, err = self.run_in_session(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn("try --help", err)
        self.assertFalse(self.out.exists())

    def test_options_of_the_command_are_its_own(self):
        self.assertEqual(self.run_in_session("printf", "%s", "--name")[1], "--name")

    def command_of(self, process):
        return until(lambda: children_of(process.pid), "the command")[0]

    def test_signals_reach_the_command(self):
        script = "import signal,sys;[signal.signal(s,lambda n,f:(print(n,flush=True))) for s in map(int,sys.argv[1:])];" \
                 "print('ready',flush=True)\nwhile True: signal.pause()"
        numbers = [signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN + 3]
        process = self.start("--", sys.executable, "-c", script, *[int(number) for number in numbers])
        self.assertEqual(process.stdout.readline(), "ready\n")
        for number in numbers:
            process.send_signal(number)
            self.assertEqual(process.stdout.readline(), f"{int(number)}\n")
        process.send_signal(signal.SIGQUIT)
        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGQUIT)

    def test_dispositions_and_mask_are_inherited(self):
        show = "import signal; print(signal.getsignal(signal.SIGHUP)==signal.SIG_IGN, signal.getsignal(signal.SIGCHLD)==signal.SIG_IGN," \
               " sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))))"

        def before():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

        status, out, err = self.run_in_session("--", sys.executable, "-c", show, preexec_fn=before)
        self.assertEqual((status, out), (0, f"True True [{int(signal.SIGUSR2)}]\n"), err)

    def test_it_stops_and_continues_with_the_command(self):
        process = self.start("--", "sleep", "1000", preexec_fn=in_a_group_with_a_parent)
        command = self.command_of(process)
        until(lambda: "sleep" in Path(f"/proc/{command}/comm").read_text(), "exec")
        for stop in (lambda: os.kill(command, signal.SIGTSTP), lambda: process.send_signal(signal.SIGTSTP)):
            stop()
            until(lambda: state_of(command) == "T" and state_of(process.pid) == "T", "both to stop")
            process.send_signal(signal.SIGCONT)
            until(lambda: state_of(command) != "T" and state_of(process.pid) != "T", "both to continue")
        process.terminate()
        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGTERM)

    def test_sessions_within_each_other_stop_and_continue_together(self):
        process = self.start("--", BIN / "lifeline-session", "--", "sleep", "1000", preexec_fn=in_a_group_with_a_parent)
        inner = self.command_of(process)
        until(lambda: children_of(inner), "the inner session's command")
        group = [process.pid, inner, *children_of(inner)]
        until(lambda: "sleep" in Path(f"/proc/{group[-1]}/comm").read_text(), "exec")
        os.killpg(process.pid, signal.SIGTSTP)
        until(lambda: {state_of(pid) for pid in group} == {"T"}, "all to stop")
        os.killpg(process.pid, signal.SIGCONT)
        until(lambda: "T" not in {state_of(pid) for pid in group}, "all to continue")
        os.kill(group[-1], signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_S), -signal.SIGTERM)

    def test_a_command_that_is_stopped_alone_can_be_continued_alone(self):
        process = self.start("--", "sh", "-c", "kill -STOP $$; exit 3")
        command = self.command_of(process)
        until(lambda: state_of(command) == "T", "the command to stop")
        until(lambda: state_of(process.pid) in "ST", "the session to see that")
        os.kill(command, signal.SIGCONT)
        self.assertEqual(process.wait(PATIENCE_S), 3)

    def test_the_terminals_interrupt_arrives_once(self):
        script = "import signal,time\ncame=[]\nsignal.signal(2,lambda n,f:(came.append(n),print('interrupt',flush=True)))\n" \
                 "print('ready',flush=True)\nwhile not came: time.sleep(0.05)\n" \
                 "for _ in range(20): time.sleep(0.05)\nprint('end',flush=True)"  # a second one would come meanwhile
        pid, terminal = pty.fork()
        if pid == 0:
            default_signals()
            os.execve(BIN / "lifeline-session", ["lifeline-session", "--", sys.executable, "-c", script], self.environment)
        self.addCleanup(os.close, terminal)
        text = b""
        deadline = time.monotonic() + PATIENCE_S
        while b"end" not in text and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    text += os.read(terminal, 4096)
                except OSError:
                    break
            if b"ready" in text and b"^C" not in text and b"sent" not in text:
                os.write(terminal, b"\x03")
                text += b"sent"
        if b"end" not in text:
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertEqual(text.count(b"interrupt"), 1, text)

    def test_the_terminals_interrupt_before_the_command_reaches_it(self):
        script = "import signal;print('got', signal.SIGINT in signal.sigpending(),flush=True)"
        pid, terminal = pty.fork()
        if pid == 0:
            default_signals()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # the command inherits that, and cannot end by it
            os.write(1, b"ready")
            while signal.SIGINT not in signal.sigpending():
                time.sleep(0.01)
            os.execve(BIN / "lifeline-session", ["lifeline-session", "--", sys.executable, "-c", script], self.environment)
        self.addCleanup(os.close, terminal)
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        while b"got" not in text or not text.endswith(b"\n"):
            text += os.read(terminal, 4096)
        os.waitpid(pid, 0)
        self.assertIn(b"got True", text)

    def test_a_killed_session_leaves_the_command_alone_and_a_dead_pid(self):
        process = self.start("--", "sleep", "1000")
        command = self.command_of(process)
        [file] = until(lambda: list(self.announced.glob("[0-9a-f]*")), "the announcement")
        self.assertIn(f"\npid={process.pid}\n", file.read_text())
        process.kill()
        process.wait(PATIENCE_S)
        self.assertIn(state_of(command), "SR")
        os.kill(command, signal.SIGKILL)
        self.run_in_session("--", "true")  # delivers what the killed one left
        starts = [fields["name"] for name, _, fields in self.events() if name == "session.start"]
        self.assertEqual(sorted(starts), ["sleep", "true"])

    def test_closed_descriptors_stay_closed_and_get_no_output(self):
        def close():
            for fd in range(3):
                os.close(fd)

        process = subprocess.run([BIN / "lifeline-session", "--", "sh", "-c", 'ls -l /proc/$$/fd > "$BACK"'],
                                 env=self.environment | {"BACK": f"{self.here}/fds"}, preexec_fn=close, timeout=PATIENCE_S, check=False)
        self.assertEqual(process.returncode, 0)
        self.assertNotRegex((self.here / "fds").read_text(), r" [02] -> ")  # 1 is that of the redirection
        self.assertEqual(len(self.batches()) > 0, True)

    def test_a_sink_that_cannot_be_opened_keeps_no_command_from_running(self):
        for url in ("nats://127.0.0.1:1", "nonsense://x", "file:///nonexistent/x"):
            self.environment["LIFELINE_URL"] = url
            status, out, _ = self.run_in_session("--", "echo", "ran")
            self.assertEqual((status, out), (0, "ran\n"), url)

    def test_off_is_off(self):
        self.environment["LIFELINE"] = "off"
        status, out, err = self.run_in_session("--", "sh", "-c", 'ls "$LIFELINE_SESSION_DIR"; printenv TRACEPARENT')
        self.assertEqual(status, 0)
        self.assertIn(SESSION.search(err).group(1), out)  # children may be of another mind
        self.assertFalse(self.announced.exists() or self.out.exists())

    def test_a_relative_session_directory_is_an_error_that_keeps_nothing_from_running(self):
        self.environment["LIFELINE_SESSION_DIR"] = "sessions"
        status, out, err = self.run_in_session("--", "echo", "ran")
        self.assertEqual((status, out), (0, "ran\n"))
        self.assertIn("LIFELINE_SESSION_DIR must be an absolute path", err)

    def test_a_session_directory_that_is_not_ours_is_said(self):
        self.announced.mkdir(mode=0o700)
        self.announced.chmod(0o777)
        status, out, err = self.run_in_session("--", "echo", "ran")
        self.assertEqual((status, out), (0, "ran\n"))
        self.assertIn("not be writable by others", err)
        self.assertEqual(list(self.announced.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
