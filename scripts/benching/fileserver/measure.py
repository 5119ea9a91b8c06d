#!/usr/bin/env python3
"""Usage: file-server [--server vsftpd|nginx] [--clients 1,5,20] [--modes none,calipers] [--rounds 15] [--fetches 400] [--json FILE]

What the preload costs a file server: transfer rate, and CPU time of the server per byte. Each round runs every mode once, in random
order, with a server of its own; the effects are ratios within rounds, so that a machine that becomes slower slows all modes down.

  none        the server alone
  off         with the preload, without a URL
  calipers    sums per kind of descriptor, and per file and peer (the default of `lifeline run`)
  triggers    the same, with a trigger file that is read each second
  events      every operation

nginx serves over HTTP with sendfile, nginx-copy without it; vsftpd over FTP, with sendfile. Clients fetch one file of 4 MiB again and
again, with curl or Python. Needs Python 3 alone. Prints a table: median, and the 95 % interval of the median's change by bootstrap.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(os.environ.get("LIFELINE_BIN", Path(__file__).resolve().parents[3] / "build/emitter/bin"))
PRELOAD = BIN.parent / "lib/lifeline-preload/liblifeline-preload.so"
MODES = ("none", "off", "calipers", "triggers", "events")
SIZE = 4 << 20
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def configuration(server, folder, port):
    if server == "vsftpd":
        (folder / "vsftpd.conf").write_text(
            f"listen=YES\nlisten_port={port}\nlisten_address=127.0.0.1\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO\n"
            f"anon_root={folder}/data\nrun_as_launching_user=YES\nno_anon_password=YES\nseccomp_sandbox=NO\nmax_clients=200\n"
            f"secure_chroot_dir={folder}/data\nxferlog_enable=NO\n")
        (folder / "vsftpd.conf").chmod(0o600)
        return [shutil.which("vsftpd", path="/usr/sbin:/usr/bin"), str(folder / "vsftpd.conf")], f"ftp://127.0.0.1:{port}/file"
    sendfile = "off" if server == "nginx-copy" else "on"
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log stderr warn; {user} events {{}}\n"
        f"http {{ access_log off; sendfile {sendfile}; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}/data; }} }}\n")
    return [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-e", "stderr", "-c", str(folder / "nginx.conf")], f"http://127.0.0.1:{port}/file"


def environment_of(mode, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE") and key != "LD_PRELOAD"}
    if mode == "off":
        environment["LD_PRELOAD"] = str(PRELOAD)
    if mode == "triggers":
        (folder / "triggers").write_text("nothing.of.this.name off for=1h\n")
        (folder / "triggers").chmod(0o600)
        environment["LIFELINE_TRIGGERS"] = str(folder / "triggers")
    if mode == "events":
        environment["LIFELINE_RESOLUTION"] = "; ".join(f"{kind}.* full" for kind in ("disk", "net", "pipe", "wait"))
    return environment


def processes_of(root):
    """The process and its descendants."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def cpu_seconds(root):
    """Of the server's processes, and of its children that have ended and were waited for."""
    total = 0
    for process in processes_of(root):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            own = time.clock_gettime(~process << 3 | 2)  # the process' CPU clock, which is finer than ticks
        except OSError:
            continue
        total += sum(map(int, fields[13:15])) / TICKS + own
    return total


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


def client(url, fetches):
    """A process that fetches the file so many times over one connection. curl waits up to a second between two files by FTP."""
    if url.startswith("ftp:"):
        return subprocess.Popen([sys.executable, "-c", FTP_CLIENT, url.split(":")[2].split("/")[0], str(fetches)])
    process = subprocess.Popen(["curl", "-sS", "-K", "-"], stdin=subprocess.PIPE, text=True)
    process.stdin.write(f'url = "{url}"\noutput = "/dev/null"\n' * fetches)
    process.stdin.close()
    return process


def transfer(url, fetches, clients):
    """Seconds until the clients have fetched the file so many times."""
    began = time.monotonic()
    running = [client(url, max(1, fetches // clients)) for _ in range(clients)]
    if any([process.wait() for process in running]):
        sys.exit(f"file-server: a client failed; {url}")
    return time.monotonic() - began


def measure(server, mode, clients, fetches, folder):
    port = free_port()
    command, url = configuration(server, folder, port)
    if mode not in ("none", "off"):
        command = [str(BIN / "lifeline-run"), "--url", "null:", "--", *command]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, env=environment_of(mode, folder), stdout=log, stderr=log)
    try:
        for _ in range(200):
            with socket.socket() as caller:
                if caller.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        transfer(url, clients, clients)
        before = cpu_seconds(process.pid)
        taken = transfer(url, fetches, clients)
        time.sleep(0.1)  # sessions end, and are waited for
        used = cpu_seconds(process.pid) - before
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
    nbytes = max(1, fetches // clients) * clients * SIZE
    return {"mb_per_s": nbytes / taken / 1e6, "cpu_ns_per_byte": used / nbytes * 1e9}


def interval_of(ratios):
    """The median, and its 95 % interval by bootstrap."""
    generator = random.Random(1)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[50], medians[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="nginx", choices=["vsftpd", "nginx", "nginx-copy"])
    parser.add_argument("--clients", default="1,5,20")
    parser.add_argument("--modes", default="none,calipers")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--fetches", type=int, default=400, help="of 4 MiB, by all clients together")
    parser.add_argument("--json", help="file for all values")
    options = parser.parse_args()
    modes = options.modes.split(",")
    if modes[0] != "none" or not set(modes) <= set(MODES):
        parser.error(f"modes are none, then any of {', '.join(MODES[1:])}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "data/file").write_bytes(os.urandom(SIZE))
        (folder / "data").chmod(0o555)
        for clients in map(int, options.clients.split(",")):
            values = {mode: [] for mode in modes}
            for _ in range(options.rounds):
                for mode in random.sample(modes, len(modes)):
                    values[mode].append(measure(options.server, mode, clients, options.fetches, folder))
            for mode in modes:
                row = {"server": options.server, "clients": clients, "mode": mode, "values": values[mode]}
                for figure in ("mb_per_s", "cpu_ns_per_byte"):
                    row[figure] = statistics.median(value[figure] for value in values[mode])
                    row[f"{figure}_change"] = interval_of([value[figure] / alone[figure] - 1 for value, alone in zip(values[mode], values["none"])])
                rows.append(row)
                rate, cpu = row["mb_per_s_change"], row["cpu_ns_per_byte_change"]
                print(f"{options.server} clients={clients:2} {mode:9} {row['mb_per_s']:8.1f} MB/s {rate[0]:+7.2%} [{rate[1]:+.2%}, {rate[2]:+.2%}]   "
                      f"{row['cpu_ns_per_byte']:6.3f} ns/B {cpu[0]:+7.2%} [{cpu[1]:+.2%}, {cpu[2]:+.2%}]", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": os.uname()._asdict() if hasattr(os.uname(), "_asdict") else list(os.uname()),
                                                  "cpus": os.cpu_count(), "file_bytes": SIZE, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
