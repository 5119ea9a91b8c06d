"""A session daemon and a session of LTTng, and their end."""

import contextlib
import os
import re
import signal
import tempfile
import time
from pathlib import Path

from ..processes import run


class Trace:
    def __init__(self, session, folder, environment, daemon):
        self.session, self.folder, self.environment, self.daemon = session, folder, environment, daemon

    def stop(self):
        """Events that were discarded, and the bytes of those that were kept."""
        run("lttng", "stop", self.session, environment=self.environment)
        listed = run("lttng", "list", self.session, environment=self.environment)
        discarded = re.search(r"Discarded events: (\d+)", listed)
        size = sum(path.stat().st_size for path in Path(self.folder, "trace").rglob("my_channel_*"))
        return int(discarded[1]) if discarded else 0, size


@contextlib.contextmanager
def daemon(environment):
    """A session daemon of our own, unless this user has one already: there can be only one. Gives the pid of ours."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        pidfile = Path(folder) / "pid"
        try:
            run("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", pidfile, environment=environment, timeout=60)
        except RuntimeError as error:
            if "already" not in str(error):
                raise
        own = int(pidfile.read_text()) if pidfile.exists() else None
        try:
            yield own
        finally:
            if own:
                end(own)


def end(pid):
    """With SIGTERM; it is no child of ours, so its end is looked for."""
    os.kill(pid, signal.SIGTERM)
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}"):
            return
        time.sleep(0.1)


@contextlib.contextmanager
def traced(folder, tracepoints="lifeline_bench:my_event"):
    """The tracepoints are on, into files in the folder, which also holds the tools' settings."""
    environment = {"LTTNG_HOME": folder, "LTTNG_UST_REGISTER_TIMEOUT": "10000"}
    session = f"lifeline-bench-{os.getpid()}"

    def lttng(*arguments):
        run("lttng", *arguments, environment=environment, timeout=60)

    with daemon(environment) as own:
        lttng("create", session, f"--output={folder}/trace")
        try:
            lttng("enable-channel", "-u", "my_channel", "-s", session, "--subbuf-size=1M", "--num-subbuf=4")
            lttng("enable-event", "-u", tracepoints, "-s", session, "-c", "my_channel")
            lttng("start", session)
            yield Trace(session, folder, environment, own)
        finally:
            lttng("destroy", session)
