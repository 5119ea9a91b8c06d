package io.lifeline.jobs.archive.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Files and directories that are removed if the process ends before they are complete, also by Ctrl-C. */
public final class Unfinished implements AutoCloseable {
  private final Set<Path> paths = new LinkedHashSet<>();
  private final Thread hook = new Thread(this::end, "remove unfinished files");
  private boolean ended;

  public Unfinished() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Registers a path that is about to be created; fails once the process is ending. */
  public synchronized Path add(Path path) throws IOException {
    if (ended) {
      throw new IOException("interrupted");
    }
    paths.add(path);
    return path;
  }

  /** Renames files to their final names, in this order; nothing is renamed once the process is ending. */
  synchronized void rename(List<Path> from, List<Path> to) throws IOException {
    if (ended) {
      throw new IOException("interrupted");
    }
    for (int i = 0; i < from.size(); i++) {
      Files.move(from.get(i), to.get(i), StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.ATOMIC_MOVE);
      paths.remove(from.get(i));
    }
  }

  private synchronized void end() {
    ended = true;
    new ArrayList<>(paths).forEach(Unfinished::remove);
  }

  private static void remove(Path path) {
    try (Stream<Path> below = Files.walk(path)) {
      for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException | UncheckedIOException e) {
      // It is not there, or cannot be removed.
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // The hook runs.
    }
    end();
  }
}
