"""What must hold over the whole repository."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked_files():
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    return [ROOT / name for name in names.decode().split("\0") if name]


def measured():
    """The names of what benchmarks measure, some of which look like files."""
    reports = (json.loads(path.read_text()) for path in (ROOT / "results/bench").glob("*.json"))
    return {row["name"] for report in reports for row in report.get("rows", [])}


def texts():
    for path in tracked_files():
        if not path.is_file():
            continue
        try:
            yield path, path.read_text()
        except UnicodeDecodeError:
            continue  # a golden batch or another binary


class HouseTest(unittest.TestCase):
    def test_kafkas_version_is_the_same_everywhere(self):
        versions = {
            "scripts/lib/common.sh": r"^KAFKA_VERSION=(\S+)",
            "scripts/kafka/pom.xml": r"<kafka\.version>(.*?)</kafka\.version>",
            "scripts/kafka/connect/pom.xml": r"<artifactId>connect-runtime</artifactId>\s*<version>(.*?)</version>",
            "compose/kafka.yaml": r"image: apache/kafka:(\S+)",
            "pom.xml": r"<kafka\.version>(.*?)</kafka\.version>",
        }
        found = {name: re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)[1]
                 for name, pattern in versions.items()}
        self.assertEqual(1, len(set(found.values())), found)

    def test_nothing_is_left_for_later_in_the_code(self):
        marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
        left = [f"{path.relative_to(ROOT)}: {line.strip()}"
                for path, text in texts() if not path.is_relative_to(ROOT / "results/fleet/data")  # base64, words by chance
                for line in text.splitlines() if marks.search(line)]
        self.assertEqual([], left)

    @unittest.skipUnless(shutil.which("clang-format-14"), "clang-format-14 is not here")
    def test_drawings_survive_the_formatter(self):
        drawing = "/* Slots.\n *\n *   free --(" + "filled " * 20 + ")--> sealed\n *   sealed --> free\n */\n"
        formatted = subprocess.run(["clang-format-14", "--assume-filename", ROOT / "emitter/src/any.h"], input=drawing,
                                   capture_output=True, check=True, text=True).stdout
        self.assertEqual(drawing, formatted)

    def test_no_file_names_a_home_directory(self):
        homes = re.compile(r"/(?:home|Users)/(?!lifeline\b)[a-z]\w*/")
        found = [f"{path.relative_to(ROOT)}: {match[0]}" for path, text in texts() for match in homes.finditer(text)]
        self.assertEqual([], found)

    def test_no_source_file_is_longer_than_800_lines(self):
        sources = {".c", ".h", ".go", ".java", ".py", ".sh"}
        generated = {"go.sum"}
        long = {str(path.relative_to(ROOT)): text.count("\n") for path, text in texts()
                if path.suffix in sources and path.name not in generated and text.count("\n") > 800}
        self.assertEqual({}, long)

    def test_every_link_to_a_file_in_the_documentation_leads_somewhere(self):
        broken = []
        for path, text in texts():
            if path.suffix != ".md":
                continue
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
                if not (path.parent / target).exists():
                    broken.append(f"{path.relative_to(ROOT)} -> {target}")
        self.assertEqual([], broken)

    def test_every_page_is_in_the_index(self):
        index = ROOT / "docs/README.md"
        listed = {(index.parent / target).resolve() for target in re.findall(r"\]\(([^)#:\s]+)\)", index.read_text())}
        listed |= {path / "README.md" for path in listed if path.is_dir()}
        pages = {path for path in tracked_files() if path.suffix == ".md" and "vectors" not in path.parts}
        self.assertEqual(set(), {str(path.relative_to(ROOT)) for path in pages - listed - {index}})

    def test_every_path_that_the_documentation_names_is_there(self):
        folders = r"(?:compose|emitter|schemas|stream-jobs|examples|tests|scripts|results)/[\w./*-]+"
        names = {path.name for path in tracked_files()} | measured()
        missing = []
        for path, text in texts():
            if path.suffix != ".md":
                continue
            for quoted in re.findall(r"`([^`\n]+)`", text):
                if re.fullmatch(folders, quoted):
                    found = any(any(start.glob(quoted.rstrip("/"))) for start in (ROOT, path.parent, ROOT / "emitter"))
                else:
                    found = quoted in names or not re.fullmatch(r"[\w-]+\.(c|h|py|json|md)", quoted)
                if not found:
                    missing.append(f"{path.relative_to(ROOT)} -> {quoted}")
        self.assertEqual([], missing)

    def test_every_make_target_has_its_script(self):
        for script in set(re.findall(r"@((?:scripts|examples)/[\w/-]+)", (ROOT / "Makefile").read_text())):
            with self.subTest(script):
                self.assertTrue((ROOT / script).stat().st_mode & 0o111, f"{script} is not executable")


if __name__ == "__main__":
    unittest.main()
