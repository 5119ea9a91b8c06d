"""Rivals that neither Debian nor a registry offers, as measured before, on another machine. For comparison only."""

from dataclasses import dataclass

MACHINE = "a virtual machine with 2 Xeon cores, TSC 2.7 GHz, Debian 12"
FLOOR_NS = 12.9


@dataclass(frozen=True)
class Elsewhere:
    what: str
    burst_ns: float
    sustained: str = ""
    bytes_per_event: str = ""
    when_full: str = ""


ELSEWHERE = [
    Elsewhere("NanoLog (C++17)", 15.1, "17.4", "10.9", "blocks"),
    Elsewhere("binlog, TSC", 15.7, "15-20", "28", "grows"),
    Elsewhere("fmtlog", 14.7, "45 with 83 % lost, or 336 blocking", "71", "drops silently or spins"),
    Elsewhere("quill 12", 15.8, "23-32 with 82 % lost, or 136 blocking", "48", "drops, blocks or grows"),
    Elsewhere("LTTng-UST 2.13", 85, "98 with 49 % lost, or 120-137 blocking", "14", "counted"),
    Elsewhere("Perfetto SDK 48", 247, "235-264", "35-43", "no loss seen"),
    Elsewhere("Tracy", 58, "58", "32+", "grows without limit"),
    Elsewhere("OpenTelemetry C++ (span with 2 attributes)", 709, "848", "", "drops silently"),
    Elsewhere("FFS, the descendant of the paper's PBIO (encoder only)", 30.0, "", "40"),
    Elsewhere("protobuf-c (encoder only)", 33.5, "", "19.9"),
    Elsewhere("FlatBuffers (encoder only)", 32.7, "", "44"),
    Elsewhere("avro-c (encoder only)", 62.8, "", "13.9"),
    Elsewhere("libbson (encoder only)", 86.5, "", "41"),
    Elsewhere("JSON text (encoder only)", 366, "", "115"),
    Elsewhere("Java: JFR event", 44, "", "17", "up to 4.6 % lost, unreported"),
    Elsewhere("Java: log4j2 asynchronous", 342),
    Elsewhere("Java: Chronicle", 144, "", "24"),
]
