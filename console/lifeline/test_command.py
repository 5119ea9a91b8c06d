"""`lifeline`: it runs the programs beside it and no others, and its help and completion know them all."""

import os
import re
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = Path(os.environ.get("LIFELINE_BIN", HERE.parents[1] / "build/emitter/bin"))
LIFELINE = BIN / "lifeline"


def run(*arguments, program=LIFELINE, stdin=None, **options):
    return subprocess.run([program, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False, text=True, **options)


class Lifeline(unittest.TestCase):
    tags = {"system"}

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.here = Path(directory.name).resolve()

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def installed(self, **programs):
        """A copy of `lifeline` with programs of the test's own beside it."""
        copy = self.here / "prefix/bin/lifeline"
        copy.parent.mkdir(parents=True)
        shutil.copy(LIFELINE, copy)
        for name, text in programs.items():
            self.program(copy.parent / name.replace("_", "-"), text)
        return copy

    def test_every_command_of_the_list_explains_itself(self):
        commands = run("help", "--commands").stdout.split()
        self.assertGreater(len(commands), 15)
        for command in commands:
            with self.subTest(command):
                done = run("help", command)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("Usage", done.stdout)

    def test_programs_in_java_say_that_too_few_files_may_be_open(self):
        for program in "lifeline-jobs", "lifeline-console":
            done = run("--version", program=HERE.parents[1] / "scripts" / program,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{program}: at most 40 files may be open", done.stderr)

    def test_the_list_has_every_program(self):
        listed = run("help").stdout
        examples = {f"lifeline-{path.stem}" for path in (HERE.parents[1] / "emitter/examples").glob("*.c*")}
        for program in BIN.glob("lifeline-*"):
            if program.name not in examples:
                self.assertRegex(LIFELINE.read_text(), rf"(?m)^[a-z]+\|{program.name}[ |]")
        self.assertNotIn("not installed", listed)

    def test_no_argument_is_help(self):
        self.assertEqual(run().stdout, run("help").stdout)
        self.assertEqual(run("--help").stdout, run("-h").stdout)

    def test_arguments_input_and_status_pass_through(self):
        lifeline = self.installed(lifeline_cat='printf "<%s>" "$@"; cat; exit 42', lifeline_jobs='printf "<%s>" "$@"')
        done = run("cat", "a b", "", "*", "-x", program=lifeline, stdin="input")
        self.assertEqual((done.returncode, done.stdout), (42, "<a b><><*><-x>input"))
        self.assertEqual(run("sql", "SELECT 1", program=lifeline).stdout, "<sql><SELECT 1>")

    def test_a_program_gets_the_callers_path(self):
        lifeline = self.installed(lifeline_cat='/usr/bin/printf %s "$PATH"')
        self.assertEqual(run("cat", program=lifeline, env={"PATH": "/nonexistent"}).stdout, "/nonexistent")

    def test_neither_path_nor_working_directory_is_searched(self):
        lifeline = self.installed(lifeline_cat="echo right")
        strange = self.here / "strange"
        for name in ("lifeline-cat", "lifeline-emit", "lifeline-own", "readlink", "awk", "cat"):
            self.program(strange / name, "echo wrong")
        env = {"PATH": f"{strange}:/usr/bin:/bin"}
        self.assertEqual(run("cat", program=lifeline, cwd=strange, env=env).stdout, "right\n")
        for command in ("emit", "own"):
            done = run(command, program=lifeline, cwd=strange, env=env)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")

    def test_a_link_to_it_finds_the_programs(self):
        lifeline = self.installed(lifeline_cat="echo right")
        link = self.here / "elsewhere"
        link.symlink_to(lifeline)
        self.assertEqual(run("cat", program=link).stdout, "right\n")

    def test_a_program_that_is_not_in_the_list_works(self):
        lifeline = self.installed(lifeline_own="echo own $1", lifeline_cat="")
        self.assertEqual(run("own", "x", program=lifeline).stdout, "own x\n")
        self.program(lifeline.parent / "lifeline-a/b", "echo wrong")
        self.assertEqual(run("a/b", program=lifeline).returncode, 2)

    def test_a_program_that_is_not_installed_is_named(self):
        lifeline = self.installed(lifeline_cat="")
        done = run("sql", program=lifeline)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"lifeline-jobs is not installed: {lifeline.parent} has no such program", done.stderr)
        self.assertIn("(not installed)", run("help", program=lifeline).stdout)

    def test_an_unknown_command_is_answered_with_similar_ones(self):
        for mistake, meant in {"reprot": "report", "doctr": "doctor", "verfy": "verify", "hepl": "help"}.items():
            done = run(mistake)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"did you mean {meant}?", done.stderr)
        done = run("\x1b[31mred")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("\x1b", done.stderr)
        self.assertNotIn("did you mean", run("x" * 5000).stderr)

    def test_output_that_is_no_terminal_has_no_colour(self):
        self.assertNotIn("\x1b", run("help").stdout)

    def completed(self, *words):
        """What bash offers for the last of the words."""
        script = f"""source {HERE / 'completion.bash'}; complete -p lifeline >&2
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _lifeline; printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "-c", script, "bash", LIFELINE, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=True, text=True)
        self.assertIn("-F _lifeline lifeline", done.stderr)
        return done.stdout.split()

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(self.completed("do"), ["doctor"])
        self.assertEqual(self.completed("help", "led"), ["ledger"])
        self.assertEqual(self.completed("emit", "--prog"), ["--program"])
        self.assertEqual(self.completed("dev", "--no-"), ["--no-jobs", "--no-page"])
        self.assertEqual(self.completed("emit", "file"), [])
        self.assertEqual(self.completed("sql", "--arch"), [])  # would start a Java machine

    def test_completion_knows_what_runs_in_a_java_machine(self):
        in_java = set(re.findall(r"(?m)^([a-z]+)\|lifeline-(?:jobs|console)\b", LIFELINE.read_text()))
        for file in ("completion.bash", "_lifeline"):
            text = (HERE / file).read_text()
            self.assertEqual(set(text.split('" jobs ')[1].split('"')[0].split()) | {"jobs"}, in_java, file)


if __name__ == "__main__":
    unittest.main()
