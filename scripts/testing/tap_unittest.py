"""Usage: python3 -m testing.tap_unittest [--unit | --test ID] FOLDER...

Runs Python's unittest over test_*.py in each folder and prints TAP, which scripts/test counts. A class whose attribute `tags`
holds "system" has system tests: their lines end with the mark `# system`.

  --unit     leave system tests out
  --test ID  only that test
"""

import signal
import sys
import unittest


def is_system(test):
    return "system" in getattr(test, "tags", ())


class TapResult(unittest.TestResult):
    def _line(self, outcome, test, remark=""):
        print(f"{outcome} - {test.id()}{remark or (' # system' if is_system(test) else '')}", flush=True)

    def _failed(self, test, trace):
        self._line("not ok", test)
        print("".join(f"# {line}\n" for line in trace.splitlines()), end="", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("ok", test, f" # skip {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(subtest, (self.failures + self.errors)[-1][1])


def flattened(suite):
    for test in suite:
        yield from flattened(test) if isinstance(test, unittest.TestSuite) else [test]


def main(arguments):
    unit = "--unit" in arguments
    only = arguments[arguments.index("--test") + 1] if "--test" in arguments else None
    folders = [argument for argument in arguments if not argument.startswith("--") and argument != only]
    result = TapResult()
    for folder in folders:
        found = flattened(unittest.TestLoader().discover(folder, top_level_dir=folder))
        unittest.TestSuite(test for test in found if (not unit or not is_system(test)) and only in (None, test.id())).run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that tests' clean-ups run
    sys.exit(main(sys.argv[1:]))
