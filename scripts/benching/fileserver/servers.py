"""The servers as Debian ships them, and how much each mode measures of them."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from ..daemon import LIMIT_S, Daemon
from ..processes import BIN, free_port, processes_of, wait_until

PRELOAD = BIN.parent / "lib/lifeline-preload/liblifeline-preload.so"
IDLE = {"vsftpd": 1, "nginx": 2, "nginx-copy": 2}  # processes without sessions
MODES = {
    "without": "the server alone",
    "off": "with the preload, but without a URL",
    "triggers": "everything switched off, and a trigger file that is read each second (the paper's un-activated)",
    "calipers": "sums per kind of descriptor, and per file and peer (`lifeline run --emitters all`)",
    "events": "every operation",
}
KINDS = ("disk", "net", "pipe", "wait")


def vsftpd(folder, port):
    data = folder.parent / "data"
    (folder / "vsftpd.conf").write_text(
        f"listen=YES\nlisten_port={port}\nlisten_address=127.0.0.1\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO\n"
        f"anon_root={data}\nrun_as_launching_user=YES\nno_anon_password=YES\nseccomp_sandbox=NO\nmax_clients=200\n"
        f"secure_chroot_dir={data}\nxferlog_enable=NO\n")
    (folder / "vsftpd.conf").chmod(0o600)
    return [program("vsftpd"), folder / "vsftpd.conf"]


def nginx(folder, port, sendfile):
    data = folder.parent / "data"
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log stderr warn; {user} events {{}}\n"
        f"http {{ access_log off; sendfile {sendfile}; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
        f"server {{ listen 127.0.0.1:{port}; root {data}; }} }}\n")
    return [program("nginx"), "-e", "stderr", "-c", folder / "nginx.conf"]


def program(name):
    return shutil.which(name, path="/usr/sbin:/usr/bin")


def lacking():
    """What of the servers and clients is not there; empty if nothing is."""
    missing = [name for name in ("vsftpd", "nginx", "curl") if not program(name)]
    return f"{', '.join(missing)} is not installed: run scripts/setup --dev" if missing else ""


def command(server, folder, port):
    if server == "vsftpd":
        return vsftpd(folder, port)
    return nginx(folder, port, "off" if server == "nginx-copy" else "on")


def environment(mode, folder):
    """Of the server: ours without what the caller may have set for Lifeline."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("LIFELINE") and key != "LD_PRELOAD"}
    if mode == "off":
        clean["LD_PRELOAD"] = str(PRELOAD)
    if mode == "triggers":
        (folder / "triggers").write_text("nothing.of.this.name off for=1h\n")
        (folder / "triggers").chmod(0o600)
        clean["LIFELINE_TRIGGERS"] = str(folder / "triggers")
        clean["LIFELINE_RESOLUTION"] = "* off"
    if mode == "events":
        clean["LIFELINE_RESOLUTION"] = "; ".join(f"{kind}.* full" for kind in KINDS)
    return clean | {"LIFELINE_RING_DIR": str(folder)}


class Running(Daemon):
    @property
    def url(self):
        return f"{'ftp' if self.name == 'vsftpd' else 'http'}://127.0.0.1:{self.port}/file"

    @property
    def forks(self):
        """Whether each session is a process, whose time is known exactly only after the server's end."""
        return self.name == "vsftpd"

    def rest(self):
        """Waits until all sessions have ended."""
        wait_until(lambda: len(processes_of(self.process.pid)) <= IDLE[self.name], f"{self.name} ends its sessions", LIMIT_S)


@contextlib.contextmanager
def running(server, mode, folder):
    """The server in this mode, ready, and without a session yet."""
    port = free_port()
    prefix = [] if mode in ("without", "off") else [BIN / "lifeline-run", "--emitters", "all", "--url", "null:", "--"]
    with open(folder / "log", "wb") as log:
        found = Running(server, subprocess.Popen([*prefix, *command(server, folder, port)], env=environment(mode, folder), stdout=log,
                                                 stderr=log), port)
    try:
        found.answers(folder / "log")
        if (PRELOAD.name in Path(f"/proc/{found.process.pid}/maps").read_text()) != (mode != "without"):
            raise RuntimeError(f"the preload is {'not ' * (mode != 'without')}there")
        wait_until(lambda: len(processes_of(found.process.pid)) == IDLE[server], f"{server} is ready", LIMIT_S)
        yield found
    finally:
        if found.process.returncode is None:
            found.end()
