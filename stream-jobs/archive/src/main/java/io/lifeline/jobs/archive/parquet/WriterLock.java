package io.lifeline.jobs.archive.parquet;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A file lock that the kernel releases when this process ends for any reason. POSIX grants such a lock to the whole
 * process, and releases it as soon as the process closes any descriptor of the file: so a file locked by this process
 * must not even be opened. Held locks are recorded in the system properties, which plugins share even when separate
 * class loaders loaded their classes.
 */
final class WriterLock implements Closeable {
  private static final String PROPERTY = "io.lifeline.archive.lock.";

  private final FileChannel channel;
  private final String property;

  private WriterLock(FileChannel channel, String property) {
    this.channel = channel;
    this.property = property;
  }

  /** Takes the lock; returns null if this process or another one holds it. */
  static WriterLock tryLock(Path file) throws IOException {
    try {
      Files.createFile(file);
    } catch (FileAlreadyExistsException e) {
      // It exists, and was not opened.
    }
    String property = PROPERTY + identity(file);
    if (System.getProperties().putIfAbsent(property, "held") != null) {
      return null;
    }
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, StandardOpenOption.WRITE);
      if (channel.tryLock() != null) {
        return new WriterLock(channel, property);
      }
      release(channel, property);
      return null;
    } catch (IOException | RuntimeException e) {
      release(channel, property);
      throw e;
    }
  }

  /** Returns the identity of the file, independent of the path. */
  private static String identity(Path file) throws IOException {
    Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    return key == null ? file.toRealPath().toString() : key.toString();
  }

  @Override
  public void close() throws IOException {
    if (channel.isOpen()) {
      release(channel, property);
    }
  }

  /** Closes the file before anything else in this process may open it again. */
  private static void release(FileChannel channel, String property) throws IOException {
    try {
      if (channel != null) {
        channel.close();
      }
    } finally {
      System.getProperties().remove(property);
    }
  }
}
