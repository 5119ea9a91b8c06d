"""The library and the sinks open no descriptor whose number may be 0 to 2: see src/base/low.h."""

import pathlib
import re
import sys

EMITTER = pathlib.Path(__file__).resolve().parent.parent
OPENS = re.compile(
    r"(?<![\w.>])(open|openat|openat2|creat|socket|socketpair|pipe|pipe2|accept|accept4|eventfd|epoll_create1?|dup|"
    r"memfd_create|inotify_init1?|timerfd_create|signalfd|mkstemp|mkostemp|popen|perf_event_open|pidfd_open|"
    r"fopen|opendir|dlopen(?=\((?!NULL))|getaddrinfo|rd_kafka_new|load_certificates)\("
)
HOLDING = re.compile(r"LL_HOLDING_LOW\(\w*$|LL_ABOVE_2\($")
# These hold the numbers during the call, or are called by functions that do.
EXEMPT = {"src/base/low.c", "sinks/kafka/clients.c"}
HELD_AROUND = re.compile(r"ll_low_hold\(\);\n[^\n]*$")


def code_of(path):
    """The file without comments and strings; lines stay."""
    text = path.read_text()
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def main():
    wrong = []
    for path in sorted([*EMITTER.glob("src/**/*.c"), *EMITTER.glob("sinks/**/*.c")]):
        name = str(path.relative_to(EMITTER))
        if name in EXEMPT:
            continue
        text = code_of(path)
        for found in OPENS.finditer(text):
            before = text[: found.start()]
            if HOLDING.search(before) or HELD_AROUND.search(before) or re.search(r"\b(bool|int) $", before):
                continue
            line = before.count("\n") + 1
            wrong.append(f"{name}:{line}: {found.group(1)} may return 0 to 2: use ll_{found.group(1)} or LL_HOLDING_LOW")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
