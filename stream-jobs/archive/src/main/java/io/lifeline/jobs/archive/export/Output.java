package io.lifeline.jobs.archive.export;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The destination of an export: files that get their names when they are complete, or standard output. A destination
 * that exists and is no regular file, such as a pipe, is written directly.
 */
public final class Output implements AutoCloseable {
  private final Path target;
  private final OutputStream standard;
  private final Path spill;
  private final Unfinished unfinished;
  private final List<OutputStream> open = new ArrayList<>();
  private final List<Path> from = new ArrayList<>();
  private final List<Path> to = new ArrayList<>();
  private Path main;

  private Output(Path target, OutputStream standard, Path spill, Unfinished unfinished) {
    this.target = target;
    this.standard = standard;
    this.spill = spill;
    this.unfinished = unfinished;
  }

  /**
   * Describes a destination; nothing is created yet.
   *
   * @param file null or {@code -} for standard output
   * @param spill directory for a file that is copied to standard output
   */
  public static Output to(Path file, OutputStream standardOutput, Path spill, Unfinished unfinished)
      throws IOException {
    if (isStandardOutput(file)) {
      return new Output(null, standardOutput, spill, unfinished);
    }
    Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
    if (Files.isDirectory(target)) {
      throw new IOException("cannot write " + file + ": it is a directory: give --output the name of a file");
    }
    return new Output(target, null, spill, unfinished);
  }

  /** Returns whether this value of the option means standard output. */
  public static boolean isStandardOutput(Path file) {
    return file == null || file.toString().equals("-");
  }

  private boolean isDirect() {
    return target == null || Files.exists(target) && !Files.isRegularFile(target);
  }

  /** Returns the stream of the only or main file. */
  OutputStream stream() throws IOException {
    if (target == null) {
      return new Explaining(standard);
    }
    if (isDirect()) {
      return opened(target, StandardOpenOption.WRITE);
    }
    main = temporary(target);
    return opened(main, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  /** Returns the path of the only or main file, for writers that open it themselves. */
  Path file() throws IOException {
    main = isDirect() ? unfinished.add(spill.resolve("output")) : temporary(target);
    return main;
  }

  /** Returns the stream of another file, with the name of the main file but another extension. */
  OutputStream beside(String extension) throws IOException {
    if (isDirect()) {
      throw new IOException("the format consists of several files: give --output the name of a file");
    }
    String name = target.getFileName().toString();
    int dot = name.lastIndexOf('.');
    Path other = target.resolveSibling((dot > 0 ? name.substring(0, dot) : name) + extension);
    Path part = temporary(other);
    from.add(part);
    to.add(other);
    return opened(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private Path temporary(Path file) throws IOException {
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    return unfinished.add(file.resolveSibling(".lifeline-export-" + random + ".tmp"));
  }

  private OutputStream opened(Path path, StandardOpenOption... options) throws IOException {
    try {
      OutputStream stream = Files.newOutputStream(path, options);
      open.add(stream);
      return new Explaining(stream);
    } catch (IOException e) {
      throw explained(e);
    }
  }

  /** Says which destination cannot be written, and leaves standard output open. */
  private final class Explaining extends FilterOutputStream {
    Explaining(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      try {
        out.write(bytes, offset, length);
      } catch (IOException e) {
        throw explained(e);
      }
    }

    @Override
    public void close() throws IOException {
      if (out == standard) {
        out.flush();
      } else {
        out.close();
      }
    }
  }

  private IOException explained(IOException e) {
    String why = e instanceof NoSuchFileException ? "its directory does not exist"
        : e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
    return new IOException("cannot write " + (target == null ? "to standard output" : target) + ": " + why
        + ": give --output another place", e);
  }

  /** Gives all files their names, the main one last. */
  public void commit() throws IOException {
    for (OutputStream stream : open) {
      stream.close();
    }
    if (main != null && isDirect()) {
      try (OutputStream out = stream()) {
        Files.copy(main, out);
      }
    } else if (main != null) {
      from.add(main);
      to.add(target);
      try {
        unfinished.rename(from, to);
      } catch (IOException e) {
        throw explained(e);
      }
    }
    if (standard != null) {
      standard.flush();
    }
  }

  @Override
  public void close() throws IOException {
    for (OutputStream stream : open) {
      stream.close();
    }
  }
}
