"""The matrix: what is copied how, what limits it by set-up, and what the paper's Table II says."""

from dataclasses import dataclass
from itertools import product

READ_MB, WRITE_MB = 4, 8  # per second, of the slow disks
LINK_MBIT = 160
DELAY_MS = 50  # one way; the paper's latency of 100 ms is the round trip's
LOSS_PERCENT = 0.01
SETTLE_S, BEFORE_S = 5, 15  # loss begins after both
FADE_S, AFTER_S = 20, 20  # a loss every other second takes a window of 100 ms down slowly; then what remains is judged
SEEDS = (1, 2, 3)  # of the losses, where they decide what the network carries

RESOURCES = {"memory to memory": (False, False), "memory to disk": (False, True), "disk to disk": (True, True)}
CONDITIONS = ("0 / 0", "100 ms / 0", "100 ms / 0.01 %")
# Delay and loss of a cell, and the conditions of its phases: what is measured before loss begins is the condition without loss.
MEASURED = {"0 / 0": (0, 0, CONDITIONS[:1]), "100 ms / 0.01 %": (DELAY_MS, LOSS_PERCENT, CONDITIONS[1:])}

# Table II: resources, protocol, streams -> the paper's answers by condition; memory to memory was always the network, in the text.
PAPER = {
    ("disk to disk", "tcp", 1): ("disk-read", "network", None), ("disk to disk", "tcp", 4): ("disk-read", "network", None),
    ("disk to disk", "udt", 1): ("disk-read", "disk-read", None), ("disk to disk", "udt", 4): ("disk-read", "disk-read", None),
    ("memory to disk", "tcp", 1): ("network", "network", "network"),
    ("memory to disk", "tcp", 4): ("disk-write", "disk-write", "disk-write"),
    ("memory to disk", "udt", 1): ("network", "network", "network"),
    ("memory to disk", "udt", 4): ("network", "network", "disk-write"),
}


@dataclass(frozen=True)
class Cell:
    program: str  # of programs.PROGRAMS
    resources: str
    streams: int
    condition: str  # of MEASURED
    seed: int = 1

    @property
    def name(self):
        condition = self.condition.replace(" ", "").replace("/", "-").replace("%", "")
        seed = f".seed{self.seed}" if self.seed != 1 else ""
        return f"{self.program}.{self.resources.replace(' to ', '-')}.{self.streams}.{condition}{seed}"

    @property
    def slow_source(self):
        return RESOURCES[self.resources][0]

    @property
    def slow_destination(self):
        return RESOURCES[self.resources][1]

    @property
    def delay_ms(self):
        return MEASURED[self.condition][0]

    @property
    def loss_percent(self):
        """From the middle of the transfer on."""
        return MEASURED[self.condition][1]

    def paper(self, protocol, phase):
        if self.resources == "memory to memory":
            return "network"
        return PAPER[self.resources, protocol, self.streams][CONDITIONS.index(MEASURED[self.condition][2][phase])]


def matrix(programs):
    """Memory to memory first: it shows what the network can carry, by which the others are judged."""
    return [Cell(*cell, seed) for cell in product(programs, RESOURCES, (1, 4), MEASURED)
            for seed in (SEEDS if cell[1] == "memory to memory" and MEASURED[cell[3]][1] else SEEDS[:1])]
