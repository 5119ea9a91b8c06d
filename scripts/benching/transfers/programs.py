"""Programs that copy files, and how each is started at both ends of a link."""

import json
import os
import subprocess
from dataclasses import dataclass

from ..processes import BIN
from .rig import RIGHT, inside, udt


@dataclass(frozen=True)
class Ends:
    """Where a transfer takes place."""

    left: str  # namespace of the source
    right: str
    source: str  # directory with the files 0, 1, ...
    destination: str
    environment: dict  # Lifeline's settings


def started(command, namespace, environment, **options):
    return subprocess.Popen(inside(namespace, *map(str, command)), env={**os.environ, **environment}, **options)


def remote_copy(ends, streams, sent_to):
    """`sent_to` makes the address to send to of the server's port."""
    server = started([BIN / "remote-copy", "serve", "--json", "--listen", "0.0.0.0:0", "--into", ends.destination], ends.right,
                     ends.environment, stdout=subprocess.PIPE, text=True)
    port = int(json.loads(server.stdout.readline())["listening"].rpartition(":")[2])
    address = sent_to(port)
    return [server, *(started([BIN / "remote-copy", "send", "--to", address, f"{number}"], ends.left, ends.environment,
                              cwd=ends.source, stdout=subprocess.DEVNULL) for number in range(streams))]


class RemoteCopy:
    """The example application: a thread for each step, direct I/O, events around each block's steps."""

    protocol, calipers = "tcp", False

    @staticmethod
    def start(ends, streams, _stack):
        """The processes of a transfer that goes on until it is ended."""
        return remote_copy(ends, streams, lambda port: f"{RIGHT}:{port}")


class RemoteCopyOverUdt:
    """The same, over UDT."""

    protocol, calipers = "udt", False

    @staticmethod
    def start(ends, streams, stack):
        def tunnel(port):
            stack.enter_context(udt(ends.left, ends.right, port))
            return f"127.0.0.1:{port}"
        return remote_copy(ends, streams, tunnel)


PROGRAMS = {"remote-copy": RemoteCopy, "remote-copy-udt": RemoteCopyOverUdt}
