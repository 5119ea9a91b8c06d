"""Sessions make their processes sampled faster, whatever their announcements look like."""

import json
import os
import re
import subprocess
import time
import unittest

from probe_run import BIN, ProbeTest, until

ID = "00112233445566778899aabbccddeeff"
OTHER = "ffeeddccbbaa99887766554433221100"
WAIT = "import sys; print('ready', flush=True); sys.stdin.read()"
FAMILY = """
import subprocess, sys
child = subprocess.Popen(["sleep", "60"])
print(child.pid, flush=True)
sys.stdin.read()
child.kill()
"""


class Sessions(ProbeTest):

    def waiting(self):
        child = self.child(WAIT)
        child.stdout.readline()
        return child

    def seen(self, session, pid=None):
        return [e for e in self.events("host.process") if e["session"] == session and pid in (None, e["process"])]

    def in_a_second(self, session, pid):
        before = len(self.seen(session, pid))
        time.sleep(1)
        return len(self.seen(session, pid)) - before

    def test_a_sessions_processes_are_sampled_fast_and_afterwards_slowly(self):
        root = self.child(FAMILY)
        child = int(root.stdout.readline())
        running = self.start("--sample", "process", "--every", "30s", "--fast", "50ms", "--slow", "30s")
        time.sleep(0.3)
        announced = self.announce(ID, root.pid)
        until(lambda: len(self.seen(ID, child)) >= 10, "ten samples of the child")  # in 30 s at the usual rate: one
        announced.unlink()
        until(lambda: self.in_a_second(ID, child) <= 1, "the slow rate")
        self.assertEqual({e["process"] for e in self.seen(ID)}, {root.pid, child})
        self.assertEqual(self.end(running)[0], 0)

    def test_the_innermost_session_counts(self):
        root = self.child(FAMILY)
        child = int(root.stdout.readline())
        self.announce(ID, root.pid)
        self.announce(OTHER, child)
        self.probe("--sample", "process", "--count", 3, "--every", "50ms")
        self.assertEqual({(e["session"], e["process"]) for e in self.events("host.process")}, {(ID, root.pid), (OTHER, child)})

    def test_of_two_sessions_of_a_process_the_newer_one_counts(self):
        child = self.waiting()
        self.announce(ID, child.pid, text=f"pid={child.pid}\nbegan=2\n")
        self.announce(OTHER, child.pid, text=f"pid={child.pid}\nbegan=1\n")
        running = self.start("--sample", "process", "--every", "50ms")
        until(lambda: self.seen(ID), "the newer session")
        (self.sessions / ID).unlink()
        until(lambda: self.seen(OTHER), "the older session, once the newer one is over")
        self.end(running)

    def test_a_flood_of_announcements_leaves_time_for_samples(self):
        child = self.waiting()
        for number in range(200):
            self.announce(f"{number + 2:032x}", child.pid)
        flood = self.child("""
import os, sys
path = sys.argv[1] + "/" + "e" * 32
print("ready", flush=True)
while True:
    open(path, "w").close()
    os.unlink(path)
""", self.sessions)
        flood.stdout.readline()
        self.probe("--sample", "process,load", "--every", "100ms", "--count", 10, "--json")
        self.assertEqual(len(self.events("host.load")), 10)

    def test_a_session_whose_process_has_died_is_over(self):
        child = self.waiting()
        running = self.start("--sample", "process", "--every", "50ms", "--json")
        self.announce(ID, child.pid)
        until(lambda: self.seen(ID), "a sample")
        child.kill()
        child.wait()
        self.announce(OTHER, self.waiting().pid)
        until(lambda: self.seen(OTHER), "a later session: the end of the first one is known")
        self.announce(ID, os.getpid())  # as if the number were in use again: another process under the same id
        last = "0123456789abcdef" * 2
        self.announce(last, self.waiting().pid)
        until(lambda: self.seen(last), "a session after it")
        self.assertEqual(self.end(running)[0], 0)
        self.assertEqual({e["process"] for e in self.seen(ID)}, {child.pid})

    def test_hostile_announcements_are_ignored(self):
        child = self.waiting()
        good = self.announce(ID, child.pid)
        for number, text in enumerate(["", "pid=\n", "pid=-1\n", "pid=99999999999999999999\n", "pid=0\n", "\0pid=1\n",
                                       "name=" + "x" * 3000 + "\n", "pid=" + "1" * 4000 + "\n"]):
            self.announce(f"{number + 1:032x}", 0, text=text)
        self.announce(f"{20:032x}", 0, text=f"pid={child.pid}\n" + "x" * 5000)
        self.announce(f"{21:032x}", os.getpid(), mode=0o666)
        (self.sessions / f"{22:032x}").symlink_to(good)
        os.mkfifo(self.sessions / f"{23:032x}", 0o600)
        (self.sessions / f"{24:032x}").mkdir()
        self.announce("not-an-id", os.getpid())
        self.announce("0" * 32, os.getpid())
        err = self.probe("--sample", "process", "--count", 3, "--every", "50ms", "--json")
        self.assertEqual({(e["session"], e["process"]) for e in self.events("host.process")}, {(ID, child.pid)})
        self.assertEqual(err, f"lifeline-probe: session file {21:032x} may be written by others; it is ignored\n")

    def test_a_directory_that_others_may_write_is_ignored(self):
        self.announce(ID, os.getpid())
        self.sessions.chmod(0o777)
        err = self.probe("--sample", "process", "--count", 1)
        self.assertIn("must belong to this user or root and not be writable by others", err)
        self.assertEqual(self.events("host.process"), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user")
    def test_a_user_cannot_have_a_process_of_another_user_sampled(self):
        theirs = subprocess.Popen(["sleep", "60"], user=65534, group=65534, extra_groups=[], cwd="/")
        self.addCleanup(theirs.wait)
        self.addCleanup(theirs.kill)
        os.chown(self.sessions, 65534, 65534)
        for id, pid in ((ID, theirs.pid), (OTHER, os.getpid())):
            os.chown(self.announce(id, pid), 65534, 65534)
        err = self.probe("--sample", "process", "--count", 2, "--every", "50ms")
        self.assertEqual({(e["session"], e["process"]) for e in self.events("host.process")}, {(ID, theirs.pid)})
        self.assertIn("names process", err)

    @unittest.skipUnless(os.geteuid() == 0, "only root's probe reads the directories of all users")
    def test_a_users_directory_is_that_of_its_owner(self):
        theirs, mounter = (subprocess.Popen(["sleep", "60"], user=user, group=user, extra_groups=[], cwd="/")
                           for user in (65534, 65533))
        for end in (theirs.wait, theirs.kill, mounter.wait, mounter.kill):
            self.addCleanup(end)
        ours = self.waiting()
        del self.environment["LIFELINE_SESSION_DIR"]
        other = "0123456789abcdef" * 2
        script = f"""
mount -t tmpfs -o mode=1777 none /dev/shm && mount -t tmpfs none /run || exit 77
announce() {{
    mkdir -p "$1" && printf "pid=$3\\nbegan=${{4:-3}}\\n" > "$1/$2"
}}
announce /dev/shm/lifeline-65534/sessions {ID} {theirs.pid} 1
announce /run/user/65534/lifeline/sessions {OTHER} {theirs.pid} 2
announce /dev/shm/lifeline-1/sessions {other} {theirs.pid}
announce /dev/shm/lifeline-evil/sessions {other} {theirs.pid}
chown -R 65534 /dev/shm/* /run/user/65534
announce /run/user/65534/lifeline/sessions {other} {ours.pid} 9
mkdir -p /dev/shm/lifeline-65533/sessions && mount -t tmpfs -o mode=0700 none /dev/shm/lifeline-65533/sessions || exit 77
announce /dev/shm/lifeline-65533/sessions {other} {mounter.pid}
chown -R 65533 /dev/shm/lifeline-65533
announce /elsewhere/sessions {other} {theirs.pid}
ln -s /elsewhere /dev/shm/lifeline-0
announce /run/lifeline/sessions {ID} {ours.pid}
exec {BIN}/lifeline-probe --sample process --count 2 --every 50ms
""".replace("/elsewhere", str(self.folder / "elsewhere"))
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=self.environment, capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode == 77 or done.stderr.startswith("unshare"):
            self.skipTest(f"no mounts of its own: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = {(e["session"], e["process"]) for e in self.events("host.process")}
        self.assertEqual(seen, {(ID, ours.pid), (OTHER, theirs.pid)}) # the newest; that with the same id hides nothing

    def test_a_directory_with_too_many_announcements_is_read_in_part(self):
        for number in range(1100):
            (self.sessions / f"{number + 1:032x}").touch()
        err = self.probe("--sample", "process", "--count", 2, "--every", "50ms")
        self.assertEqual(len(re.findall("has more than 1024 sessions", err)), 1)

    def test_other_files_hide_no_announcement(self):
        for number in range(1100):
            (self.sessions / f"x{number}").touch()
        child = self.waiting()
        self.announce(ID, child.pid)
        self.assertEqual(self.probe("--sample", "process", "--count", 2, "--every", "50ms"), "")
        self.assertEqual({e["session"] for e in self.events("host.process")}, {ID})

    def test_a_directory_that_appears_later_is_found(self):
        self.sessions.rmdir()
        child = self.waiting()
        running = self.start("--sample", "process", "--every", "100ms")
        time.sleep(0.3)
        self.sessions.mkdir(mode=0o700)
        self.announce(ID, child.pid)
        until(lambda: self.seen(ID), "a sample")
        self.assertEqual(self.end(running)[0], 0)

    @unittest.skipUnless((BIN / "lifeline-session").exists(), "lifeline-session is not built")
    def test_a_command_that_is_run_as_a_session_is_sampled_with_its_id(self):
        running = self.start("--sample", "process", "--every", "30s", "--fast", "50ms")
        command = subprocess.Popen([BIN / "lifeline-session", "--", "sh", "-c", "cat; true"], env=self.environment, text=True,
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda: sum(e["name"] == "cat" for e in self.events("host.process")) >= 5, "samples at the fast rate")
        err = command.communicate(timeout=60)[1]
        self.assertEqual(command.returncode, 0, err)
        self.end(running)
        self.assertLessEqual({"sh", "cat"}, {e["name"] for e in self.seen(re.search("[0-9a-f]{32}", err)[0])})
        self.assertEqual(list(self.sessions.iterdir()), [])

    def test_many_sessions_are_bounded(self):
        children = [self.waiting() for _ in range(2)]
        for number in range(300):
            self.announce(f"{number + 1:032x}", children[number % 2].pid)
        err = self.probe("--sample", "process", "--count", 2, "--every", "50ms")
        self.assertIn("more than 256 sessions are open", err)
        self.assertEqual({e["process"] for e in self.events("host.process")}, {child.pid for child in children})

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user")
    def test_a_user_does_not_take_the_places_of_others(self):
        theirs = subprocess.Popen(["sleep", "60"], user=65534, group=65534, extra_groups=[], cwd="/")
        self.addCleanup(theirs.wait)
        self.addCleanup(theirs.kill)
        child, mine = self.waiting(), self.folder / "mine"
        for number in range(300):
            os.chown(self.announce(f"{number + 1:032x}", theirs.pid), 65534, 65534)
        os.chown(self.sessions, 65534, 65534)
        mine.mkdir(mode=0o700)
        self.announce(ID, child.pid, mine)
        err = self.probe("--sample", "process", "--count", 2, "--every", "50ms", "--sessions", self.sessions, "--sessions", mine,
                         "--json")
        self.assertIn("more than 64 of one other user", err)
        self.assertIn((ID, child.pid), {(e["session"], e["process"]) for e in self.events("host.process")})
        self.assertEqual(json.loads(self.out)["sessions"], 65)


if __name__ == "__main__":
    unittest.main()
