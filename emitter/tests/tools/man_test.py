"""The manual pages are well-formed, and say what the tools, the headers and the sources say."""

import re
import shutil
import subprocess
import unittest

from batches import BIN, VECTORS

EMITTER = VECTORS.parents[1] / "emitter"
PAGES = sorted((EMITTER / "man").glob("*.[137]"))
TOOLS = [page for page in PAGES if page.suffix == ".1"]
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]+)")
VARIABLE = re.compile(r"LIFELINE_[A-Z_]*[A-Z]")


def options_of_help(tool):
    said = subprocess.run([BIN / tool, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return set(OPTION.findall(said)) | {"help", "version"}


def options_of_page(page):
    return set(re.findall(r"Fl -([a-z][a-z-]+)", page.read_text()))


def sources(*folders):
    for folder in folders:
        for path in (EMITTER / folder).rglob("*.[ch]"):
            yield path.read_text()


class ManualPages(unittest.TestCase):

    def test_they_are_well_formed(self):
        linters = {"mandoc": ["-T", "lint", "-W", "warning"], "groff": ["-mdoc", "-ww", "-z"]}
        found = [name for name in linters if shutil.which(name)]
        if not found:
            self.skipTest("neither mandoc nor groff is here")
        for name in found:
            for page in PAGES:
                done = subprocess.run([name, *linters[name], page], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      check=False, text=True)
                self.assertEqual(done.stdout, "", page.name)

    def test_every_tool_has_a_page_and_every_page_a_tool(self):
        examples = {f"lifeline-{path.stem}" for path in (EMITTER / "examples").glob("*.c*")}
        tools = {path.name for path in BIN.glob("lifeline*") if not path.is_symlink()} - examples
        self.assertEqual({page.stem for page in TOOLS}, tools)

    def test_pages_and_help_know_the_same_options(self):
        for page in TOOLS:
            self.assertEqual(options_of_page(page), options_of_help(page.stem), page.stem)

    def test_every_tool_tells_its_version(self):
        for page in TOOLS:
            said = subprocess.run([BIN / page.stem, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout
            self.assertRegex(said, rf"^{page.stem} \d+\.\d+\.\d+\n$")

    def test_every_variable_that_the_library_reads_is_described(self):
        read = {name for text in sources("src", "sinks") for name in re.findall(r'"(LIFELINE_[A-Z_]+)"', text)}
        described = set(VARIABLE.findall((EMITTER / "man/lifeline.7").read_text()))
        self.assertEqual(read - {"LIFELINE_CRASH_POINT"}, described)  # that one is for tests

    def test_every_setting_stands_in_the_header(self):
        read = {name for text in [(EMITTER / "src/life/config.c").read_text()] for name in re.findall(r'"(LIFELINE_[A-Z_]+)"', text)}
        header = set(VARIABLE.findall((EMITTER / "include/lifeline/lifeline.h").read_text()))
        self.assertEqual(read - header, set())

    def test_every_function_that_a_program_may_call_is_described(self):
        page = (EMITTER / "man/ll_emit.3").read_text()
        for header in ("lifeline.h", "dynamic.h", "session.h"):
            text = (EMITTER / "include/lifeline" / header).read_text()
            for name in re.findall(r"^LL_API \w+ \*?(ll_\w+)\(", text, re.MULTILINE):
                self.assertTrue(f".Fn {name} " in page, name)


if __name__ == "__main__":
    unittest.main()
