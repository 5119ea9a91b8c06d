package io.lifeline.jobs.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Libraries in machine code that Java libraries unpack into the temporary directory: RocksDB 15 MB, zstd, lz4, and
 * DuckDB 70 MB where its library does not lie beside its jar. They remove them when the process exits normally, so each
 * killed process would leave a copy.
 */
public final class NativeLibraries {
  private static final Path MAPPINGS = Path.of("/proc/self/maps");
  private static final Pattern UNPACKED =
      Pattern.compile("(/\\S*/lib(?:duckdb_java|rocksdbjni|zstd-jni|lz4-java)[^/]*\\.so)$");

  private NativeLibraries() {}

  /** Removes the files of libraries that are loaded: once a library is mapped, its file is not needed. */
  public static void removeUnpacked() {
    String directory = System.getProperty("java.io.tmpdir") + "/";
    try (Stream<String> lines = Files.lines(MAPPINGS)) {
      Set<String> unpacked = lines.map(UNPACKED::matcher).filter(Matcher::find).map(found -> found.group(1))
          .filter(library -> library.startsWith(directory)).collect(Collectors.toSet());
      for (String library : unpacked) {
        Files.deleteIfExists(Path.of(library));
      }
    } catch (IOException | RuntimeException e) {
      // No /proc, or no permission: the files stay until the process ends, as their libraries intend.
    }
  }

  /** Returns a sentence for users if the cause of a failure is that a library cannot be loaded; null otherwise. */
  public static String explain(Throwable failure) {
    Throwable cause = failure;
    List<Class<?>> kinds = List.of(UnsatisfiedLinkError.class, NoClassDefFoundError.class);
    while (cause != null && kinds.stream().noneMatch(cause.getClass()::equals)) {
      cause = cause.getCause();
    }
    return cause == null ? null : "a native library cannot be loaded from the temporary directory "
        + System.getProperty("java.io.tmpdir") + " ("
        + String.valueOf(cause.getMessage()).lines().findFirst().orElse("")
        + "): if its file system is mounted noexec or is full, name another one with -Djava.io.tmpdir=DIR, for"
        + " lifeline-jobs in LIFELINE_JOBS_JAVA_OPTS";
  }
}
