"""One measurement: a server of its own, and clients that fetch one file again and again."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..machine import Noise
from .servers import running

SIZE = 4 << 20
LIMIT_S = 60  # for all transfers of one measurement; they take seconds

FTP_CLIENT = """
import ftplib, sys
ftp, buffer = ftplib.FTP(), bytearray(1 << 18)
ftp.connect("127.0.0.1", int(sys.argv[1]))
ftp.login()
for _ in range(int(sys.argv[2])):
    with ftp.transfercmd("RETR file") as data:
        while data.recv_into(buffer):
            pass
    ftp.voidresp()
ftp.quit()
"""


def client(server, fetches):
    """A process that fetches the file so many times over one connection. By FTP, curl waits up to a second between two files."""
    if server.url.startswith("ftp:"):
        return subprocess.Popen([sys.executable, "-c", FTP_CLIENT, str(server.port), str(fetches)])
    process = subprocess.Popen(["curl", "-sS", "-K", "-"], stdin=subprocess.PIPE, text=True)
    process.stdin.write(f'url = "{server.url}"\noutput = "/dev/null"\n' * fetches)
    process.stdin.close()
    return process


def transfer(server, fetches, clients, limit=LIMIT_S):
    """Seconds until each client has fetched the file so many times."""
    began = time.monotonic()
    fetching = [client(server, fetches) for _ in range(clients)]
    try:
        for process in fetching:
            if process.wait(max(0, began + limit - time.monotonic())):
                raise RuntimeError("a client failed")
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not each client had {fetches} files within {limit} s") from None
    finally:
        for process in fetching:
            process.kill()
            process.wait()
    return time.monotonic() - began


def measure(kind, clients, mode, each, folder, limit=LIMIT_S):
    """Rate, CPU time per byte, and the share of the processors that other processes took. The folder has the file, in `data`."""
    try:
        with Noise() as noise, tempfile.TemporaryDirectory(dir=folder) as own:
            with running(kind, mode, Path(own)) as server:
                before = server.cpu_seconds()
                taken = transfer(server, each, clients, limit)
                server.rest()
                after = server.cpu_seconds()
            used = (server.total if server.forks else after) - before
    except RuntimeError as error:
        raise RuntimeError(f"{kind}, clients: {clients}, mode: {mode}: {error}") from error
    nbytes = each * clients * SIZE
    return {"mb_per_s": round(nbytes / taken / 1e6, 1), "cpu_ns_per_byte": round(used / nbytes * 1e9, 5), "others": noise.foreign_share}
