"""docs/time-limits.md names limits as they are in the code."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class TimeLimitsTest(unittest.TestCase):
    def test_each_is_in_the_file_that_the_page_names(self):
        rows = [line for line in (ROOT / "docs/time-limits.md").read_text().splitlines() if line.startswith("| `")]
        self.assertTrue(rows)
        for row in rows:
            file, *limits = re.findall(r"`(.+?)`", row.split(" | ")[0])
            text = (ROOT / file).read_text()
            for limit in limits:
                with self.subTest(limit, file=file):
                    self.assertIn(limit, text)


if __name__ == "__main__":
    unittest.main()
