"""Kissel et al. 2012, section IV.A: what calipers cost per iteration, and of the time of a block."""

from .chart import Bar, chart
from .machine import sentence
from .paper import CALIPER_MACHINE, CALIPER_NS

ROW = "caliper.array"
BLOCK_BITS = (256 << 10) * 8
CALLS = 2  # per block at each host: disk and network
GBITS = (10, 100, 1000)


def share(ns, gbit):
    """Of a block's time at that rate."""
    return CALLS * ns / (BLOCK_BITS / gbit)


def percent(value):
    return f"{100 * value:.2g} %"


def page(emitter):
    row = emitter.rows[ROW]
    found = row["details"]
    ours = found["trimmed_mean_ns"]
    return "\n".join([
        "# What calipers cost (Kissel et al. 2012, section IV.A)", "",
        f"A loop calculates over an array, here of {found['array']} numbers, with a caliper around each iteration and without, in turns "
        f"within each repetition. Summaries are reported once a second. {row['repetitions']} repetitions (the paper: 60 for each of two "
        "hosts), of which the mean without the lowest and the highest 10 %, as in the paper.", "", "![Nanoseconds per iteration](calipers.svg)", "",
        "| | ns per iteration | spread |", "| --- | ---: | --- |",
        *[f"| paper, {host} | {ns} | |" for host, ns in CALIPER_NS.items()],
        f"| ours | {ours:.1f} | quartiles {found['lower_quartile_ns']:.1f} to {found['upper_quartile_ns']:.1f}, all "
        f"{found['least_ns']:.1f} to {found['greatest_ns']:.1f} |",
        f"| the loop with calipers | {found['with_ns']:.1f} | |", f"| the loop without | {found['without_ns']:.1f} | |", "",
        f"With {CALLS} calls around the disk and the network for each block of 256 KiB, that is of the time of a block:", "",
        "| Gb/s | time of a block | paper | ours |", "| ---: | ---: | ---: | ---: |",
        *[f"| {gbit:,} | {BLOCK_BITS / gbit / 1000:,.1f} µs | {percent(share(CALIPER_NS['both'], gbit))} | {percent(share(ours, gbit))} |"
          for gbit in GBITS], "",
        f"The paper's machines: {CALIPER_MACHINE}. It states half of these shares (0.05 % at 10 Gb/s): its formula has two calls per block, "
        "but its 502,929 ns per second are those of one, for blocks of 256,000 bytes. It subtracts the time that its calipers measured, so "
        "that what a caliper spends within that time is not counted; we subtract the same loop without calipers. Both keep the same three "
        "summaries; ours also mark the operation as open, so that a hang is seen. "
        "The loop is the worst case in both: a program that waits for its disk or network loses less.", "",
        f"Command: `scripts/bench-emitter`, row `{ROW}`; others took {row['noise']['foreign']:.0%} of the processors and "
        f"disturbed {row['noise']['disturbed']} repetitions. Machine: {sentence(found)}.", ""])


def plot(emitter):
    bars = [Bar(f"paper, {host}", ns, "paper", f"{ns} ns") for host, ns in CALIPER_NS.items()]
    ours = emitter.rows[ROW]["details"]["trimmed_mean_ns"]
    return chart("Nanoseconds that calipers add to an iteration", "ns", [*bars, Bar("ours", ours, "ours", f"{ours:.1f} ns")])
