"""Pipelines of thread pools whose bottleneck follows from how they are made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scenario:
    name: str
    limit: str | None  # the component that must be named at the end; None for none
    stages: str  # as for build/emitter/bin/pipeline
    queue: int = 8
    kind: str = "calipers"
    seconds: int = 22
    moves: bool = False  # earlier answers may name another component
    alone: bool = False  # it computes, and so disturbs others


# The limit moves at 11 s and is then the other one until the end.
SWITCHED = 11_000

ODD = [
    Scenario("1 reader of 200/s, 4 writers of 333/s", "a", "1:sleep:5 4:sleep:12"),
    Scenario("8 readers of 400/s, 1 writer of 250/s", "b", "8:sleep:20 1:sleep:4"),
    Scenario("4 readers of 250/s, 4 writers of 400/s", "a", "4:sleep:16 4:sleep:10"),
    Scenario("4 hash threads, one of which gets 85 %", None, "1:sleep:1 4:skew:4:85 4:sleep:8"),
    Scenario("4 hash threads, one of which gets 85 %, behind a slower reader", "a", "1:sleep:8 4:skew:4:85 4:sleep:8"),
    Scenario("a lock lets one of four work", "b", "1:sleep:2 4:lock:5 4:sleep:6"),
    Scenario("rare stalls of the faster writer", None, "1:sleep:5 1:stall:3:6000:1500"),
    Scenario("short stalls of the slower writer", "b", "1:sleep:2 1:stall:5:3000:200"),
    Scenario("a sync after each block", "c", "1:closed:0.3 1:sleep:0.3 1:sleep:6", queue=1),
    Scenario("a thread that reads and writes in turn", None, "1:closed:3 1:sleep:3", queue=1),
    Scenario("three equal stages", None, "1:sleep:4 1:sleep:4 1:sleep:4"),
    Scenario("equal stages of 1 and 4 threads", None, "1:sleep:4 4:sleep:16"),
    Scenario("a tenth slower", None, "1:sleep:4.4 1:sleep:4"),
    Scenario("a source that comes in bursts", None, "1:burst:1:50:400 1:sleep:2 1:sleep:3"),
    Scenario("a limit that is not measured", None, "1:sleep:3 -1:sleep:9 1:sleep:3"),
    Scenario("an unmeasured limit before four writers half at work", None, "-1:sleep:6 4:sleep:11 1:sleep:1"),
    Scenario("a writer that gets fast", "a", f"1:sleep:5 1:switch:12:2:{SWITCHED}", moves=True),
    Scenario("a reader that gets slow", "a", f"1:switch:2:10:{SWITCHED} 4:sleep:16", moves=True),
    Scenario("the limit alternates each 11 s", "b", f"1:switch:8:3:{SWITCHED} 4:switch:12:40:{SWITCHED}", moves=True),
    Scenario("the limit alternates each 11 s, three phases", "a", f"1:switch:8:3:{SWITCHED} 4:switch:12:40:{SWITCHED}",
             seconds=33, moves=True),
    Scenario("no queue to speak of", "b", "1:sleep:3 1:sleep:8 1:sleep:3", queue=1),
    Scenario("a queue of a thousand blocks", "b", "1:sleep:3 1:sleep:8 1:sleep:3", queue=1000),
    Scenario("a lock shared by eight behind a slower reader", "a", "1:sleep:12 8:lock:5"),
    Scenario("32 slow writers that suffice", "a", "1:sleep:5 32:sleep:80"),
    Scenario("32 slow writers that do not", "b", "1:sleep:3 32:sleep:200"),
    Scenario("few slow operations", "b", "2:sleep:40 1:sleep:100"),
    Scenario("one thread computes", "b", "1:sleep:4 1:burn:10 1:sleep:4", alone=True),
    Scenario("two threads compute, one waits longer", "c", "2:burn:4 2:sleep:4 1:sleep:20", alone=True),
]

# Threads of three stages; the limit carries 60 blocks a second, the others 120 and 160.
SIZES = [(1, 4, 1), (4, 1, 4), (8, 1, 2), (1, 8, 16), (2, 3, 1), (16, 2, 5)]
QUEUES = [2, 8, 64]


def pools():
    for number, sizes in enumerate(SIZES):
        for limit in range(3):
            rates = [60 if stage == limit else (120, 160, 120)[stage] for stage in range(3)]
            stages = " ".join(f"{threads}:sleep:{1000 * threads / rate:.1f}" for threads, rate in zip(sizes, rates))
            kind = ("calipers", "events")[(number + limit) % 2]
            queue = QUEUES[(number + limit) % 3]
            yield Scenario(f"pools of {sizes[0]}, {sizes[1]} and {sizes[2]}, queues of {queue}", "abc"[limit], stages, queue, kind)


ALL = [*ODD, *pools()]
