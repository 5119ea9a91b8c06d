"""Programs that copy files, and how each is started at both ends of a link."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..processes import BIN
from .rig import LEFT, RIGHT, inside, udt


@dataclass(frozen=True)
class Ends:
    """Where a transfer takes place."""

    left: str  # namespace of the source
    right: str
    source: str  # directory with the files 0, 1, ...
    destination: str
    environment: dict  # Lifeline's settings


def end(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def started(stack, command, namespace, environment, **options):
    """A process that ends with the stack."""
    process = subprocess.Popen(inside(namespace, *map(str, command)), env={**os.environ, **environment}, **options)
    stack.callback(end, process)
    return process


def remote_copy(ends, streams, stack, sent_to):
    """`sent_to` makes the address to send to of the server's port."""
    server = started(stack, [BIN / "remote-copy", "serve", "--json", "--listen", "0.0.0.0:0", "--into", ends.destination], ends.right,
                     ends.environment, stdout=subprocess.PIPE, text=True)
    port = int(json.loads(server.stdout.readline())["listening"].rpartition(":")[2])
    address = sent_to(port)
    return [server, *(started(stack, [BIN / "remote-copy", "send", "--to", address, f"{number}"], ends.left, ends.environment,
                              cwd=ends.source, stdout=subprocess.DEVNULL) for number in range(streams))]


class RemoteCopy:
    """The example application: a thread for each step, direct I/O, events around each block's steps."""

    protocol, calipers = "tcp", False

    @staticmethod
    def start(ends, streams, stack):
        """The processes of a transfer that goes on until the stack ends."""
        return remote_copy(ends, streams, stack, lambda port: f"{RIGHT}:{port}")


class RemoteCopyOverUdt:
    """The same, over UDT."""

    protocol, calipers = "udt", False

    @staticmethod
    def start(ends, streams, stack):
        def tunnel(port):
            stack.enter_context(udt(ends.left, ends.right, RIGHT, port))
            return f"127.0.0.1:{port}"
        return remote_copy(ends, streams, stack, tunnel)


NGINX = """
daemon off; master_process off; user root; pid {folder}/pid; error_log {folder}/log;
events {{}}
http {{
  access_log off; sendfile off; output_buffers 1 256k; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen {listen}; root {source}; }}
}}
"""
PORT = 8080  # in a namespace of our own
RUN = [BIN / "lifeline-run", "--emitters", "all"]


def web_copy(ends, streams, stack, address):
    """Unmodified programs: curl fetches from nginx, both as Debian ships them, measured by `lifeline-run` alone."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lifeline-nginx.")))
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, listen=f"{address}:{PORT}", source=ends.source))
    environment = {**ends.environment, "LIFELINE_RESOLUTION": "* summary interval=1s"}
    server = started(stack, [*RUN, "nginx", "-p", folder, "-c", folder / "nginx.conf"], ends.left, environment)
    return [server, *(started(stack, [*RUN, "curl", "-sS", "--retry", "50", "--retry-all-errors", "--retry-delay", "1", "-o",
                               f"{ends.destination}/{number}", f"http://{address}:{PORT}/{number}"], ends.right, environment)
                      for number in range(streams))]


class Web:
    """curl and nginx, as Debian ships them."""

    protocol, calipers = "tcp", True

    @staticmethod
    def start(ends, streams, stack):
        return web_copy(ends, streams, stack, LEFT)


class WebOverUdt:
    """The same, over UDT."""

    protocol, calipers = "udt", True

    @staticmethod
    def start(ends, streams, stack):
        stack.enter_context(udt(ends.right, ends.left, LEFT, PORT))
        return web_copy(ends, streams, stack, "127.0.0.1")


PROGRAMS = {"remote-copy": RemoteCopy, "remote-copy-udt": RemoteCopyOverUdt, "web": Web, "web-udt": WebOverUdt}
