package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.ArchiveException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** A password, or a file that contains it. The file is read at each connection, so a new password needs no restart. */
public final class Password {
  private final String text;
  private final Path file;

  private Password(String text, Path file) {
    this.text = text;
    this.file = file;
  }

  /** Creates a password from text, for hosts that manage secrets themselves. */
  public static Password of(String text) {
    return new Password(Objects.requireNonNull(text, "text"), null);
  }

  /** Creates a password from the first line of a file. */
  public static Password inFile(Path file) {
    return new Password(null, Objects.requireNonNull(file, "file"));
  }

  String read() throws ArchiveException {
    if (file == null) {
      return text;
    }
    String line;
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      line = reader.readLine();
    } catch (IOException e) {
      throw new ArchiveException("the password file " + file + " cannot be read", e);
    }
    if (line == null || line.isEmpty()) {
      throw new ArchiveException("the password file " + file + " has an empty first line");
    }
    return line;
  }

  /** Returns a text without the password. */
  @Override
  public String toString() {
    return file == null ? "****" : "the first line of " + file;
  }
}
