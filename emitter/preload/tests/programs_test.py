"""Programs of Debian under `lifeline run`: their own tests or clients say that they are unharmed, the events what was seen.

README.md beside this folder has a table of the same."""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from preload import BIN, PYTHON, Preloaded, clean_environment, stop

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
MIB = 1 << 20


def program(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for_port(port, process, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"no server on port {port}, status {process.poll()}")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, check=False,
                          **{"env": clean_environment()} | more)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout[-2000:]!r} {done.stderr[-2000:]!r}")
    return done.stdout


class Programs(Preloaded):
    tags = {"system"}

    def need(self, name):
        found = program(name)
        if not found:
            self.skipTest(f"{name} is not installed")
        return found

    def files(self, *sizes):
        """Files with contents of their own, in a folder of their own."""
        folder = self.folder / "data"
        folder.mkdir()
        for i, size in enumerate(sizes):
            (folder / f"file{i}").write_bytes((hashlib.sha256(bytes([i])).digest() * (size // 32 + 1))[:size])
        return folder

    def serve(self, port, *command, **more):
        """Starts a server under the preload; what it says goes to a file."""
        log = open(self.folder / "server.log", "wb")
        self.addCleanup(log.close)
        process = self.start(*command, options=["--interval", "1s"], stdout=log, stderr=subprocess.STDOUT, **more)
        wait_for_port(port, process)
        return process

    def end(self, process, signal=15, status=0):
        process.send_signal(signal)
        self.assertEqual(process.wait(60), status, (self.folder / "server.log").read_text(errors="replace"))

    def nbytes(self, operation, name=None):
        return sum(sums["nbytes"] for key, sums in self.targets(operation).items() if name is None or name in key)

    # --- clients ---

    def test_curl_and_rsync(self):
        curl, rsync = self.need("curl"), self.need("rsync")
        folder = self.files(3 * MIB, 1000, 0)
        self.run_measured(curl, "-sS", "-o", self.folder / "got", f"file://{folder}/file0")
        self.assertEqual((self.folder / "got").read_bytes(), (folder / "file0").read_bytes())
        self.assertEqual(self.nbytes("disk.read", "/data/file0"), 3 * MIB)
        self.assertEqual(self.nbytes("disk.write", "/got"), 3 * MIB)
        self.out.unlink()
        port, config = free_port(), self.folder / "rsyncd.conf"
        config.write_text(f"use chroot = no\n[data]\npath = {folder}\nread only = no\n{'uid = 0' if os.getuid() == 0 else ''}\n")
        server = self.serve(port, rsync, "--daemon", "--no-detach", f"--port={port}", "--address=127.0.0.1", f"--config={config}")
        self.run_measured(rsync, "-a", f"rsync://127.0.0.1:{port}/data/", self.folder / "copy/")
        run("diff", "-r", folder, self.folder / "copy")
        (folder / "file1").write_text("changed")
        self.run_measured(rsync, "-ac", f"{folder}/", f"rsync://127.0.0.1:{port}/data/")
        self.run_measured(rsync, "-ac", f"rsync://127.0.0.1:{port}/data/", self.folder / "copy/")
        run("diff", "-r", folder, self.folder / "copy")
        self.end(server)
        self.assertGreaterEqual(self.nbytes("disk.read", "/data/file0"), 3 * MIB)
        self.assertGreaterEqual(self.nbytes("net.send", f":{port} from 127.0.0.1"), 3 * MIB)
        self.assertGreaterEqual(self.nbytes("net.receive", f"127.0.0.1:{port}"), 3 * MIB)

    # --- servers ---

    def test_nginx_with_sendfile_and_without(self):
        nginx, curl = self.need("nginx"), self.need("curl")
        folder = self.files(*[i * 50000 + 1 for i in range(20)])
        for sendfile in ("on", "off"):
            with self.subTest(sendfile=sendfile):
                port, config = free_port(), self.folder / "nginx.conf"
                config.write_text(f"daemon off; worker_processes 2; pid {self.folder}/pid; error_log stderr warn;\n"
                                  f"{'user root;' if os.getuid() == 0 else ''} events {{}}\nhttp {{ access_log {self.folder}/access;\n"
                                  f"client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy; sendfile {sendfile};\n"
                                  f"fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;\n"
                                  f"server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n")
                run(nginx, "-e", "stderr", "-t", "-c", config)
                server = self.serve(port, nginx, "-e", "stderr", "-c", config)
                for turn in range(2):
                    for i in range(20):
                        got = run(curl, "-sS", f"http://127.0.0.1:{port}/file{i}")
                        self.assertEqual(got, (folder / f"file{i}").read_bytes())
                    if turn == 0:
                        server.send_signal(1)  # new workers, while the old ones end
                        time.sleep(0.5)
                self.end(server, signal=3)
                total = 2 * sum(path.stat().st_size for path in folder.iterdir())
                self.assertEqual(self.nbytes("disk.read", "/data/file"), total)
                self.assertGreater(self.nbytes("net.send", f":{port} from 127.0.0.1"), total)
                self.assertEqual(len((self.folder / "access").read_text().splitlines()), 40)
                self.out.unlink()
                (self.folder / "access").unlink()

    def test_vsftpd(self):
        vsftpd, curl = self.need("vsftpd"), self.need("curl")
        folder = self.files(5 * MIB, 100000)
        self.folder.chmod(0o755)
        folder.chmod(0o555)
        port, config = free_port(), self.folder / "vsftpd.conf"
        first = free_port()
        config.write_text(f"listen=YES\nlisten_port={port}\nlisten_address=127.0.0.1\nbackground=NO\nanonymous_enable=YES\n"
                          f"local_enable=NO\nanon_root={folder}\nrun_as_launching_user=YES\nno_anon_password=YES\nseccomp_sandbox=NO\n"
                          f"secure_chroot_dir={folder}\npasv_address=127.0.0.1\npasv_min_port={first}\npasv_max_port={first + 50}\n"
                          f"xferlog_enable=YES\nvsftpd_log_file={self.folder}/log\ndual_log_enable=NO\n")
        config.chmod(0o600)
        server = self.serve(port, vsftpd, config)
        for i in range(2):
            self.assertEqual(run(curl, "-sS", f"ftp://127.0.0.1:{port}/file{i}"), (folder / f"file{i}").read_bytes())
        self.assertEqual(run(curl, "-sS", "-l", f"ftp://127.0.0.1:{port}/").split(), [b"file0", b"file1"])
        end = time.monotonic() + 60
        # The sessions end by themselves, and report then; the server's end would end them before.
        while self.nbytes("net.send", "from 127.0.0.1") < 5 * MIB + 100000:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.end(server, status=-15)
        self.assertEqual(self.nbytes("disk.read", "/file0"), 5 * MIB)

    def test_redis(self):
        redis = self.need("redis-server")
        cli, benchmark = self.need("redis-cli"), self.need("redis-benchmark")
        port = free_port()
        settings = ["--port", port, "--bind", "127.0.0.1", "--dir", self.folder, "--appendonly", "yes", "--save", ""]
        server = self.serve(port, redis, *settings)
        run(benchmark, "-p", port, "-n", 20000, "-t", "set,get,lpush,incr", "-r", 1000, "-q")
        run(cli, "-p", port, "set", "kept", "x" * 50000)
        self.assertEqual(run(cli, "-p", port, "bgrewriteaof").strip(), b"Background append only file rewriting started")
        time.sleep(0.5)
        before = run(cli, "-p", port, "debug", "digest") if b"ERR" not in run(cli, "-p", port, "debug", "digest") else run(cli, "-p", port, "dbsize")
        self.end(server)
        plain = subprocess.Popen([redis, *map(str, settings)], env=clean_environment(), stdout=subprocess.DEVNULL)
        wait_for_port(port, plain)
        after = run(cli, "-p", port, "debug", "digest") if b"ERR" not in run(cli, "-p", port, "debug", "digest") else run(cli, "-p", port, "dbsize")
        plain.terminate()
        plain.wait(60)
        self.assertEqual(before, after)
        self.assertGreater(self.nbytes("net.receive", f":{port} from 127.0.0.1"), 20000 * 30)
        self.assertGreater(self.nbytes("disk.write", "appendonly"), 20000 * 30)
        self.assertGreater(sum(sums["count"] for sums in self.targets("disk.sync").values()), 0)

    def test_postgresql(self):
        if not POSTGRES:
            self.skipTest("PostgreSQL is not installed")
        tools, port, data = POSTGRES[0], free_port(), self.folder / "pg"
        user, prefix = (), BIN.parent
        if os.getuid() == 0:  # it refuses root, who alone may read the build
            user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
            prefix = self.folder / "prefix"
            run("cmake", "--install", BIN.parent, "--prefix", prefix)
            os.chown(self.folder, 65534, 65534)
            self.folder.chmod(0o755)
        environment = self.environment | {"HOME": str(self.folder)}
        run(*user, tools / "initdb", "-D", data, "-A", "trust", "-U", "tester", env=environment)
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.folder}", "-p", str(port)]
        log = open(self.folder / "server.log", "wb")
        self.addCleanup(log.close)
        server = subprocess.Popen([*user, prefix / "bin/lifeline-run", "--url", f"file://{self.out}", "--interval", "1s",
                                   "--emitters", self.emitters, tools / "postgres", "-D", data, *settings], env=environment, stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(stop, server)
        wait_for_port(port, server)
        client = ["-h", "127.0.0.1", "-p", port, "-U", "tester", "postgres"]
        run("timeout", 60, "sh", "-c", f"until {tools}/pg_isready -q -h 127.0.0.1 -p {port}; do sleep 0.1; done")
        run(*user, tools / "pgbench", "-i", "-q", "-s", 1, *client, env=environment)
        run(*user, tools / "pgbench", "-c", 4, "-j", 2, "-t", 250, *client, env=environment)
        query = ("SELECT (SELECT count(*) FROM pgbench_history), (SELECT sum(abalance) FROM pgbench_accounts) = "
                 "(SELECT sum(delta) FROM pgbench_history), (SELECT sum(bbalance) FROM pgbench_branches) = "
                 "(SELECT sum(tbalance) FROM pgbench_tellers)")
        self.assertEqual(run(*user, tools / "psql", "-At", "-c", query, *client, env=environment).strip(), b"1000|t|t")
        run(*user, tools / "psql", "-q", "-c", "CHECKPOINT", *client, env=environment)
        self.end(server, signal=2)
        run(*user, tools / "pg_checksums", "--version")
        self.assertIn(b"shut down", run(*user, tools / "pg_controldata", "-D", data, env=environment | {"LC_ALL": "C"}))
        self.assertGreater(self.nbytes("disk.write", "/pg_wal/"), MIB)
        self.assertGreater(sum(sums["count"] for name, sums in self.targets("disk.sync").items() if "/pg_wal/" in name), 100)
        self.assertGreater(self.nbytes("net.send", f":{port} from 127.0.0.1"), 10000)
        self.assertNotIn("PANIC", (self.folder / "server.log").read_text())

    # --- language machines ---

    def test_java(self):
        java = self.need("java")
        data = self.files(2 * MIB)
        source = self.folder / "Copy.java"
        source.write_text("""
import java.net.*; import java.nio.channels.*; import java.nio.file.*; import java.util.*;
public class Copy {
  public static void main(String[] paths) throws Exception {
    byte[] wanted = Files.readAllBytes(Path.of(paths[0]));
    ServerSocket listening = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    Thread server = new Thread(() -> {
      try (Socket socket = listening.accept()) { socket.getInputStream().transferTo(socket.getOutputStream()); }
      catch (Exception e) { throw new Error(e); }
    });
    server.start();
    try (Socket socket = new Socket(listening.getInetAddress(), listening.getLocalPort())) {
      Thread sender = new Thread(() -> {
        try { socket.getOutputStream().write(wanted); socket.shutdownOutput(); } catch (Exception e) { throw new Error(e); }
      });
      sender.start();
      byte[] got = socket.getInputStream().readAllBytes();
      sender.join();
      if (!Arrays.equals(got, wanted)) throw new Error("other bytes");
    }
    server.join();
    try (FileChannel from = FileChannel.open(Path.of(paths[0]));
         FileChannel to = FileChannel.open(Path.of(paths[1]), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (long at = 0; at < from.size(); ) at += from.transferTo(at, from.size() - at, to);
      to.force(true);
    }
    Process child = new ProcessBuilder("cat", paths[1]).start();
    if (!Arrays.equals(child.getInputStream().readAllBytes(), wanted) || child.waitFor() != 0) throw new Error("child");
    System.out.println("port " + listening.getLocalPort());
  }
}
""")
        copied = self.folder / "copied"
        port = int(self.run_measured(java, "-Xmx200m", source, data / "file0", copied).stdout.split()[1])
        self.assertEqual(copied.read_bytes(), (data / "file0").read_bytes())
        self.assertEqual(self.nbytes("net.send", f"127.0.0.1:{port}"), 2 * MIB)
        self.assertEqual(self.nbytes("net.receive", f":{port} from 127.0.0.1"), 2 * MIB)
        self.assertEqual(self.nbytes("disk.write", "/copied"), 2 * MIB)
        self.assertEqual(self.targets("disk.sync")[str(copied)]["count"], 1)
        self.assertEqual(self.targets("disk.read", "cat")[str(copied)]["nbytes"], 2 * MIB)

    def test_pythons_own_tests(self):
        tests = ["test_os", "test_fileio", "test_select", "test_epoll", "test_socketserver", "test_file", "test_mmap", "test_pty",
                 "test_shutil", "test_tempfile", "test_posix", "test_asyncore"]
        if subprocess.run([PYTHON, "-c", "import test.test_os"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("Python's own tests are not installed (libpython3-testsuite)")
        # test_close_file looks whether descriptor 0 is closed, which the library may just be about to move out of the way.
        tests += ["--ignore", "test_close_file"]
        environment = {"TMPDIR": str(self.folder)}
        plain = subprocess.run([PYTHON, "-m", "test", "-q", *tests], env=clean_environment() | environment, timeout=200, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder)
        if plain.returncode != 0:
            self.skipTest(f"they fail on this machine without the preload, too: {plain.stdout[-500:]!r}")
        done = subprocess.run(self.command(PYTHON, "-m", "test", "-q", *tests), env=self.environment | environment, timeout=200, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:])


if __name__ == "__main__":
    unittest.main()
