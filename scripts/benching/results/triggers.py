"""NetLogger, section 5: what it costs to be switchable while running."""

from .chart import Bar, chart
from .paper import FILTER_US, REPARSE_50_US, UNWATCHED, WATCHED

NEEDED = ("trigger.watched", "trigger.reparse50", "trigger.filter.name", "trigger.filter.passes", "trigger.filter.leaves_out",
          "emit.burst.1t", "emit.off")


def cost(watched):
    """The median of the repetitions' ratios; what is below a per cent this measurement cannot tell from nothing."""
    share = watched["value_median"] / 100
    return f"{share:.0%}" if abs(share) >= 0.01 else "less than 1%"


def page(emitter):
    watched = emitter.rows["trigger.watched"]
    without, with_it = watched["details"]["without_ns"], watched["details"]["with_ns"]
    plain = emitter.ns("emit.burst.1t")
    return "\n".join([
        "# Triggers (NetLogger, HPDC 2002, section 5)", "",
        "NetLogger looked at a trigger file once a second from within a logging call. Ours is looked at by the background thread, "
        "which changes the state of the event types; emitting threads only read this state.", "",
        "![Triggers, the paper's and ours](triggers.svg)", "",
        "| what | paper | ours | row |", "| --- | ---: | ---: | --- |",
        f"| events per second, no trigger file | {UNWATCHED:,} | {1e9 / without:,.0f} | `trigger.watched` |",
        f"| events per second, a trigger file watched | {WATCHED:,} | {1e9 / with_it:,.0f} | `trigger.watched` |",
        f"| so watching costs | {1 - WATCHED / UNWATCHED:.0%} | {cost(watched)} | `trigger.watched` |",
        f"| a changed file with 50 entries | {REPARSE_50_US} µs | {emitter.ns('trigger.reparse50') / 1e3:,.0f} µs | "
        "`trigger.reparse50` |",
        f"| filter by name, per event | {FILTER_US} µs | {emitter.ns('trigger.filter.name') - plain:+.1f} ns | "
        "`trigger.filter.name` |",
        f"| threshold, per event that passes | - | {emitter.ns('trigger.filter.passes') - plain:+.1f} ns | "
        "`trigger.filter.passes` |",
        f"| threshold, per event that is left out | - | {emitter.ns('trigger.filter.leaves_out'):.1f} ns in all | "
        "`trigger.filter.leaves_out` |",
        f"| a type that is off | - | {emitter.ns('emit.off'):.2f} ns in all | `emit.off` |", "",
        "The paper paid 5 % for a look at the clock and the file from within the logging call. Here that is the background "
        "thread's work, and what is left is within the noise of this measurement. Names are compared once per type and not per "
        "event, so a filter by name costs nothing; a threshold has to see each event's values before it can tell. "
        "Reparsing is of the paper's order, 24 years later: each of our lines has a level, a program, a threshold, a "
        "duration and an id, all are checked to the column, and nobody waits for it.", "", emitter.source(), ""])


def plot(emitter):
    ns = emitter.ns
    watched = emitter.rows["trigger.watched"]["details"]
    return chart("Nanoseconds, of an event where nothing else stands", "ns", [
        Bar("event, no trigger file: paper", 1e9 / UNWATCHED, "paper", f"{1e9 / UNWATCHED:,.0f} ns"),
        Bar("event, trigger file watched: paper", 1e9 / WATCHED, "paper", f"{1e9 / WATCHED:,.0f} ns"),
        Bar("event, no trigger file", watched["without_ns"], "ours", f"{watched['without_ns']:.1f} ns"),
        Bar("event, trigger file watched", watched["with_ns"], "ours", f"{watched['with_ns']:.1f} ns"),
        Bar("50 entries reparsed: paper", REPARSE_50_US * 1e3, "paper", f"{REPARSE_50_US} µs"),
        Bar("50 entries reparsed", ns("trigger.reparse50"), "ours", f"{ns('trigger.reparse50') / 1e3:,.0f} µs"),
        Bar("filter, alone: paper", FILTER_US * 1e3, "paper", f"{FILTER_US} µs"),
        Bar("event that a name lets through", ns("trigger.filter.name"), "ours", f"{ns('trigger.filter.name'):.1f} ns"),
        Bar("event that a threshold lets through", ns("trigger.filter.passes"), "ours",
            f"{ns('trigger.filter.passes'):.1f} ns"),
        Bar("event that a threshold leaves out", ns("trigger.filter.leaves_out"), "ours",
            f"{ns('trigger.filter.leaves_out'):.1f} ns")])
