"""Each package knows only packages of layers below its own: the drawings in ARCHITECTURE.md of the packages in Java and Go."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {"build", "target"}


def layers(section):
    """The layer of each package that the section's drawing shows, 0 at the bottom; a line that ends with a comma goes on."""
    drawing = (ROOT / "ARCHITECTURE.md").read_text().partition(f"### {section}\n")[2].split("```")[1]
    lines = re.sub(r",\n\s+", ", ", drawing).strip().splitlines()[::-1]
    return {name: layer for layer, line in enumerate(lines) for name in re.split(r"\s{2,}", line.strip())[0].split(", ")}


def imports(folder, pattern, package_of, imported):
    """The packages that each package below the folder imports, without its tests."""
    known = {}
    for path in sorted(folder.glob(pattern)):
        if not SKIPPED & set(path.relative_to(ROOT).parts) and not path.name.endswith("_test.go"):
            text = path.read_text()
            known.setdefault(package_of(path, text), set()).update(re.findall(imported, text, re.MULTILINE))
    return {package: others - {package} for package, others in known.items()}


JAVA = imports(ROOT, "**/src/main/java/io/lifeline/**/*.java",
               lambda path, text: re.search(r"^package io\.lifeline\.(.*);", text, re.MULTILINE)[1],
               r"^import (?:static )?io\.lifeline\.([a-z.]*[a-z])\.[A-Z]")
GO = imports(ROOT / "loadgen", "**/*.go", lambda path, text: str(path.parent.relative_to(ROOT / "loadgen")),
             r'^(?:import|\t)\s*(?:\w+ )?"lifeline/loadgen/(.*)"')
GO = {package: others for package, others in GO.items() if package.split("/")[0] != "study"}  # a module of its own, on top


class LayersTest(unittest.TestCase):
    def check(self, section, known):
        drawn = layers(section)
        self.assertEqual(sorted(drawn), sorted(known), f'"{section}" shows others than there are')
        upwards = [f"{package} imports {other}" for package, others in sorted(known.items()) for other in sorted(others)
                   if drawn[other] >= drawn[package]]
        self.assertEqual([], upwards)

    def test_packages_in_java_import_only_packages_of_layers_below(self):
        self.check("Layers of the packages in Java", JAVA)

    def test_packages_in_go_import_only_packages_of_layers_below(self):
        self.check("Inside of the generator fleet", GO)

    def test_only_the_package_for_it_knows_both_brokers(self):
        knowing = {package for package, others in JAVA.items() if {"jobs.kafka", "jobs.jetstream"} <= others}
        self.assertEqual({"jobs.live"}, knowing)


if __name__ == "__main__":
    unittest.main()
