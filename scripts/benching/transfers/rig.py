"""The emulated link and the slow disk of tests/rig."""

import sys

from ..machine import ROOT

sys.path.insert(0, str(ROOT / "tests/rig"))
from rig import LEFT, NETWORK, RIGHT, inside, lacking, link, reachable, slow_disk, udt  # noqa: E402

__all__ = ["LEFT", "NETWORK", "RIGHT", "inside", "lacking", "link", "reachable", "slow_disk", "udt"]
