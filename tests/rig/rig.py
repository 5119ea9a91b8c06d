"""An emulated link between two network namespaces, and a slow disk, for tests and studies. Needs root."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

BIN = Path(os.environ.get("LIFELINE_BIN", Path(__file__).resolve().parents[2] / "build/emitter/bin"))
NETWORK, LEFT, RIGHT = "10.77.0.0/24", "10.77.0.1", "10.77.0.2"  # the ends of a link; inside its namespaces alone, so that all links may have these
UDT_PORT = 9000  # as well
NUMBERS = itertools.count()
DEVICES = {"emulated-link": "/dev/net/tun", "slow-disk": "/dev/fuse"}


def lacking(*programs):
    """Why the rig cannot be used here; empty if it can."""
    if os.geteuid() != 0:
        return "network namespaces and mounts need root"
    for program in programs:
        if not (BIN / program).exists():
            return f"{program} is not built"
        if program in DEVICES and not os.access(DEVICES[program], os.R_OK | os.W_OK):
            return f"{DEVICES[program]} cannot be opened"
    return ""


class Rig:
    """A running program of the rig; `report` is what it said at its end, a line of JSON each."""

    def __init__(self, *command):
        self.command, self.report = command, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{command[0]} ended with status {self.process.wait()}")

    def change(self, name, value):
        """Changes one value; returns when it changed, in nanoseconds since 1970."""
        self.process.stdin.write(f"{name} {value}\n")
        self.process.stdin.flush()
        *said, when = self.process.stdout.readline().split()
        if said != [name, str(value)]:
            raise RuntimeError(f"{self.command[0]} did not take {name} {value}")
        return int(when)

    def end(self):
        self.process.stdin.close()
        self.report = [json.loads(line) for line in self.process.stdout]
        self.process.stdout.close()
        if self.process.wait(10) != 0:
            raise RuntimeError(f"{self.command[0]} ended with status {self.process.returncode}")


def inside(namespace, *command):
    """The command, to run in the namespace."""
    return ["ip", "netns", "exec", namespace, *command]


@contextlib.contextmanager
def link(**options):
    """Two namespaces, in which LEFT and RIGHT are the ends of a link; gives both names and the link's Rig."""
    spaces = [f"ll-{os.getpid()}-{next(NUMBERS)}{side}" for side in "lr"]
    made = []
    try:
        for space in spaces:
            subprocess.run(["ip", "netns", "add", space], check=True)
            made.append(space)
        rig = Rig(BIN / "emulated-link", *(f"--{name}={value}" for name, value in options.items()),
                  f"{spaces[0]}={LEFT}/24", f"{spaces[1]}={RIGHT}/24")
        try:
            yield *spaces, rig
        finally:
            rig.end()
    finally:
        for space in made:
            subprocess.run(["ip", "netns", "delete", space], check=False)


@contextlib.contextmanager
def reachable(port, *namespaces):
    """Within the context, programs in the namespaces reach the server on 127.0.0.1:port under this very address."""
    with contextlib.ExitStack() as relays:
        for namespace in namespaces:
            relays.callback(Rig(sys.executable, Path(__file__).with_name("relay.py"), namespace, str(port)).end)
        yield


@contextlib.contextmanager
def udt(client, server, address, port):
    """Within the context, a TCP connection to 127.0.0.1:port in the client's namespace travels over UDT to 127.0.0.1:port in the server's,
    whose end of the link has the address."""
    with contextlib.ExitStack() as tunnel:
        for verb, namespace in (("listen", server), ("connect", client)):
            tunnel.callback(Rig(*inside(namespace, BIN / "udt-tunnel", verb, f"{address}:{UDT_PORT}", str(port))).end)
        yield


@contextlib.contextmanager
def slow_disk(directory, mount_point, *flags, **options):
    """Shows the directory at the mount point, slowly; gives its Rig."""
    rig = Rig(BIN / "slow-disk", *flags, *(f"--{name}={value}" for name, value in options.items()), directory, mount_point)
    try:
        yield rig
    finally:
        rig.end()
