"""One measured figure, with its floor and the sentence that says where the time goes."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import machine

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Measurement:
    name: str  # the file's name, too
    what: str
    value: float
    unit: str
    floor: float  # in the same unit, measured in the same run; 0 when there is none
    floor_is: str
    aim: str  # empty when none is set
    sentence: str
    details: dict = field(default_factory=dict)

    @property
    def ratio(self):
        return self.value / self.floor if self.floor else 0.0


def save(measurement, folder: Path, command, noise):
    folder.mkdir(parents=True, exist_ok=True)
    document = {**asdict(measurement), "ratio_to_floor": round(measurement.ratio, 3), "command": command,
                "share_of_cpu_taken_by_others": noise.foreign_share, "machine": machine.profile()}
    (folder / f"{measurement.name}.json").write_text(json.dumps(document, indent=2) + "\n")


def table(measurements):
    rows = [("what", "measured", "floor", "ratio", "aim")]
    for m in measurements:
        rows.append((m.what, f"{m.value:,.2f} {m.unit}", f"{m.floor:,.2f} {m.unit}" if m.floor else "-",
                     f"{m.ratio:.2f}" if m.floor else "-", m.aim or "-"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    sentences = [f"{m.what}: {m.sentence}" for m in measurements]
    floors = sorted({f"floor of {m.what}: {m.floor_is}" for m in measurements if m.floor})
    return "\n".join([*lines, "", *sentences, "", *floors])
