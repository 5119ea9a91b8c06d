"""Usage: python3 -m testing.tap_unittest FOLDER...

Runs Python's unittest over test_*.py in each folder and prints TAP, which scripts/test counts.
"""

import sys
import unittest


class TapResult(unittest.TestResult):
    def _line(self, outcome, test, remark=""):
        print(f"{outcome} - {test.id()}{remark}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("ok", test, f" # skip {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line("not ok", test)
        print(self.failures[-1][1], flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        self._line("not ok", test)
        print(self.errors[-1][1], flush=True)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._line("not ok", subtest)


def main(folders):
    result = TapResult()
    for folder in folders:
        unittest.TestLoader().discover(folder, top_level_dir=folder).run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
