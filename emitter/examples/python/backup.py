"""Events of one's own, and the records of `logging`, beside each other on one topic.

    LIFELINE_URL=nats://localhost python3 backup.py
"""

import logging

import lifeline

FILE_END = lifeline.EventType("file.end", [("string", "path", ""), ("u64", "nbytes", "B")])

logging.getLogger().addHandler(lifeline.Handler())
logging.getLogger().setLevel(logging.INFO)

sizes = {"/etc/hosts": 221, "/etc/hostname": 9, "/etc/passwd": 1540}
for path, nbytes in sizes.items():
    FILE_END(path, nbytes)

lifeline.emit("backup.end", files=len(sizes), nbytes=sum(sizes.values()), ok=True)
logging.info("backed up %d files", len(sizes))
