"""Each room of the library knows only rooms below it: the drawing in ARCHITECTURE.md, "Inside of the library"."""

import os
import re
import subprocess
import unittest
from pathlib import Path

EMITTER = Path(__file__).resolve().parents[1]
OBJECTS = Path(os.environ["LIFELINE_OBJECTS"])
DRAWING = (EMITTER.parent / "ARCHITECTURE.md").read_text().partition("### Inside of the library")[2].split("```")[1]
ROOMS = re.findall(r"^  (\w+)  ", DRAWING.partition("---\n")[2], re.MULTILINE)[::-1]


def room_of(path):
    return path.parent.name


def symbols(path):
    """The names that the object defines for others, and those that it takes from them."""
    lines = subprocess.run(["nm", path], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    kinds = [line.split()[-2:] for line in lines]
    return {name for kind, name in kinds if kind in "TDBRC"}, {name for kind, name in kinds if kind == "U"}


class Layers(unittest.TestCase):

    def test_the_drawing_shows_every_room(self):
        self.assertEqual(sorted(ROOMS), sorted(path.name for path in (EMITTER / "src").iterdir() if path.is_dir()))

    def test_a_room_includes_only_itself_and_rooms_below(self):
        upwards = []
        for path in sorted((EMITTER / "src").glob("*/*.[ch]")):
            for header in re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE):
                room = header.rpartition("/")[0] or room_of(path)
                if ROOMS.index(room) > ROOMS.index(room_of(path)):
                    upwards.append(f"{room_of(path)}/{path.name} includes {header}")
        self.assertFalse(upwards, "\n" + "\n".join(upwards))

    def test_a_room_calls_only_itself_and_rooms_below(self):
        sources = sorted((EMITTER / "src").glob("*/*.c"))
        of = {path: symbols(OBJECTS / room_of(path) / f"{path.name}.o") for path in sources if path.stem != "crash_point"}
        home = {name: room_of(path) for path, (defined, _) in of.items() for name in defined}
        upwards = [f"{room_of(path)}/{path.name} calls {name} of {home[name]}/"
                   for path, (_, taken) in of.items() for name in sorted((taken & home.keys()) - {"ll_above"})
                   if ROOMS.index(home[name]) > ROOMS.index(room_of(path))]
        self.assertFalse(upwards, "\n" + "\n".join(upwards))


if __name__ == "__main__":
    unittest.main()
