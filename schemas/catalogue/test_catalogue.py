"""Tests of the catalogue's rules, and that what is generated from it is up to date."""

import copy
import json
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generate import CatalogueError, check_event, check_pairs, identity  # noqa: E402

EVENTS = [event for group in json.loads((HERE / "catalogue.json").read_text())["groups"] for event in group["events"]]


class CatalogueTest(unittest.TestCase):
    def test_header_and_document_are_up_to_date(self):
        done = subprocess.run([sys.executable, HERE / "generate.py", "--check"], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_a_start_without_an_end_is_refused(self):
        with self.assertRaisesRegex(CatalogueError, "disk.read.start: has no disk.read.end"):
            check_pairs([event for event in EVENTS if event["name"] != "disk.read.end"])

    def test_a_pair_without_an_id_is_refused(self):
        events = copy.deepcopy(EVENTS)
        events[0]["fields"].pop(0)
        with self.assertRaisesRegex(CatalogueError, "the first field of a pair is id"):
            check_pairs(events)

    def test_a_name_twice_is_refused(self):
        with self.assertRaisesRegex(CatalogueError, "an event is named twice"):
            check_pairs(EVENTS + EVENTS[:1])

    def test_fields_must_be_c_identifiers_of_known_types(self):
        for change in ({"name": "two words"}, {"type": "u128"}):
            event = copy.deepcopy(EVENTS[0])
            event["fields"][1].update(change)
            with self.subTest(change), self.assertRaises(CatalogueError):
                check_event(event)

    def test_the_hash_is_the_formats(self):
        """The type of vectors/valid/table1.llb, whose hash stands in table1.hex.md."""
        fields = [{"name": "i", "type": "i32", "unit": ""}, {"name": "f", "type": "f32", "unit": ""}]
        self.assertEqual(0xBA3B5DFE812FC459, identity({"name": "MY_EVENT", "level": "info", "fields": fields}))


if __name__ == "__main__":
    unittest.main()
