package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A small tmpfs, which tests can really fill. */
public final class SmallDisk implements AutoCloseable {
  /** Cleanup before the disk is unmounted. */
  public interface Farewell {
    void run() throws Exception;
  }

  private final Path mountPoint;
  private Farewell beforeItGoes = () -> {};

  private SmallDisk(Path mountPoint) {
    this.mountPoint = mountPoint;
  }

  /** Mounts it with access for every user; skips the test if it lacks the privileges. */
  static SmallDisk mount() throws Exception {
    Path mountPoint = Files.createTempDirectory(Path.of("/var/tmp"), "lifeline-disk");
    Files.setPosixFilePermissions(mountPoint, PosixFilePermissions.fromString("rwxr-xr-x"));
    boolean mounted =
        run("mount", "-t", "tmpfs", "-o", "size=512k,mode=755", "lifeline-test", mountPoint.toString()) == 0;
    if (!mounted) {
      Files.delete(mountPoint);
    }
    assumeTrue(mounted, "mounting a tmpfs needs privileges");
    return new SmallDisk(mountPoint);
  }

  public Path path() {
    return mountPoint;
  }

  public void beforeItGoes(Farewell farewell) {
    beforeItGoes = farewell;
  }

  /** Runs a command, for example to change the owner of a file there. */
  public static int run(String... command) throws Exception {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start().waitFor();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Fills the disk; returns the file that does. */
  Path fill() throws IOException {
    Path ballast = mountPoint.resolve("ballast");
    byte[] page = new byte[4096];
    try (var out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(page);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
    return ballast;
  }

  /** Deletes that file, and enlarges the disk. */
  void delete(Path ballast) throws Exception {
    Files.delete(ballast);
    run("mount", "-o", "remount,size=16m", mountPoint.toString());
  }

  @Override
  public void close() throws Exception {
    try {
      beforeItGoes.run();
    } finally {
      run("umount", "-l", mountPoint.toString());
      Files.deleteIfExists(mountPoint);
    }
  }
}
