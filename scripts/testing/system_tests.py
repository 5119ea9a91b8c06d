"""The list of system tests found by the last run of each stage, for the soak."""

import pickle

from .command import ROOT

RECORD = ROOT / "build/reports/system-tests.pickle"  # written and read by this version of this folder alone


def known():
    """The groups by the stages' names."""
    try:
        return pickle.loads(RECORD.read_bytes())
    except Exception:  # there is none, or another version wrote it
        return {}


def record(groups):
    """Of stages that did not run, or had none, what is known stays."""
    found = known() | {stage: members for stage, members in groups.items() if members}
    RECORD.write_bytes(pickle.dumps(found))
