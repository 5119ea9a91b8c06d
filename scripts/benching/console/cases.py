"""The rows of the console's table, with archives and with a broker, and the sizes of the archives."""

from ..limit import at_least, at_most
from ..figures.row import Case

SIZES = {"10m": 10_000_000, "100m": 100_000_000}
QUICK = {"200k": 200_000}


FIGURES = [
    Case("start.answer", "from the service's start to its first answer", "s"),
    Case("start.picture", "from the service's start to the first lifelines with events", "s"),
    Case("start.loaded", "from the service's start until all events are loaded", "s"),
    Case("service.memory", "resident memory of the service after loading", "MB"),
    Case("service.peak", "greatest resident memory of the service while loading", "MB"),
    Case("page.first", "from the navigation to the first picture, in a new browser", "ms", at_most("value", 1000)),
    Case("page.moved.p99", "from a zoom or pan until what is there has moved, 99th percentile", "ms"),
    Case("page.step.p50", "from a zoom or pan to the picture of the new span, median", "ms"),
    Case("page.step.p99", "from a zoom or pan to the picture of the new span, 99th percentile", "ms"),
    Case("page.step.max", "from a zoom or pan to the picture of the new span, slowest", "ms", at_most("value", 200)),
    Case("page.panels.p99", "from a zoom or pan until the panels beside the picture have their answers, 99th percentile", "ms"),
    Case("page.bytes", "bytes that a zoom or pan receives, panels included, median", "kB"),
    Case("page.memory", "resident memory of the tab's process after the zooms and pans", "MB", at_most("value", 300)),
    Case("page.drag", "frames with a new picture while dragging, without a GPU, at the slowest of three scales", "frames/s",
         at_least("value", 20)),
    Case("http.p50", "lifelines of a random span over HTTP, without browser, median", "ms"),
    Case("http.p99", "lifelines of a random span over HTTP, without browser, 99th percentile", "ms"),
    Case("http.max", "lifelines of a random span over HTTP, without browser, slowest", "ms"),
]

TAIL = [
    Case("tail.rate.columns", "`lifeline-jobs tail` of events that NATS holds, into /dev/null, the program's start included", "events/s",
         at_least("value", 200_000)),
    Case("tail.rate.json", "the same with --json", "events/s", at_least("value", 200_000)),
]
ACTIVATION = [
    Case("activation.first_event.p50", "from the request to switch events on until NATS holds an emitter's first one, median", "s"),
    Case("activation.first_event.p99", "from the request to switch events on until NATS holds an emitter's first one, 99th percentile",
         "s", at_most("value", 1.5)),
    Case("activation.first_event.max", "from the request to switch events on until NATS holds an emitter's first one, slowest", "s"),
]


def cases(sizes):
    return [case.of_size(size) for size in sizes for case in FIGURES] + TAIL + ACTIVATION
