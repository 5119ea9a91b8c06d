"""The servers as Debian ships them, and how much each mode measures of them."""

import contextlib
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..processes import BIN, cpu_seconds, free_port, processes_of, wait_until

PRELOAD = BIN.parent / "lib/lifeline-preload/liblifeline-preload.so"
IDLE = {"vsftpd": 1, "nginx": 2, "nginx-copy": 2}  # processes without sessions
MODES = {
    "without": "the server alone",
    "off": "with the preload, but without a URL",
    "triggers": "everything switched off, and a trigger file that is read each second (the paper's un-activated)",
    "calipers": "sums per kind of descriptor, and per file and peer (the default of `lifeline run`)",
    "events": "every operation",
}
KINDS = ("disk", "net", "pipe", "wait")
LIMIT_S = 30  # for a server to start, and to end its sessions


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


@dataclass
class Running:
    server: str
    process: subprocess.Popen
    port: int
    total: float = 0  # seconds of CPU time from its start to its end, of its sessions too

    @property
    def url(self):
        return f"{'ftp' if self.server == 'vsftpd' else 'http'}://127.0.0.1:{self.port}/file"

    @property
    def forks(self):
        """Whether each session is a process, whose time is known exactly only after the server's end."""
        return self.server == "vsftpd"

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def rest(self):
        """Waits until all sessions have ended."""
        wait_until(lambda: len(processes_of(self.process.pid)) <= IDLE[self.server], f"{self.server} ends its sessions", LIMIT_S)

    def end(self):
        self.process.terminate()
        try:
            wait_until(self.has_ended, f"{self.server} ends", LIMIT_S)
        except RuntimeError:
            for pid in processes_of(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            raise

    def has_ended(self):
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode, self.total = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        return pid != 0


@contextlib.contextmanager
def running(server, mode, folder):
    """The server in this mode, ready, and without a session yet."""
    port = free_port()
    prefix = [] if mode in ("without", "off") else [BIN / "lifeline-run", "--url", "null:", "--"]
    with open(folder / "log", "wb") as log:
        found = Running(server, subprocess.Popen([*prefix, *command(server, folder, port)], env=environment(mode, folder), stdout=log,
                                                 stderr=log), port)
    try:
        wait_until(lambda: listens(port) or found.has_ended(), f"{server} answers", LIMIT_S)
        if found.process.returncode is not None:
            raise RuntimeError(f"it ended with {found.process.returncode}: {(folder / 'log').read_text()[-2000:]}")
        if (PRELOAD.name in Path(f"/proc/{found.process.pid}/maps").read_text()) != (mode != "without"):
            raise RuntimeError(f"the preload is {'not ' * (mode != 'without')}there")
        wait_until(lambda: len(processes_of(found.process.pid)) == IDLE[server], f"{server} is ready", LIMIT_S)
        yield found
    finally:
        if found.process.returncode is None:
            found.end()


def listens(port):
    """Whether a process listens; asked of the kernel, since a connection would be a session."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(int(line[1].rpartition(":")[2], 16) == port and line[3] == "0A" for line in lines)
