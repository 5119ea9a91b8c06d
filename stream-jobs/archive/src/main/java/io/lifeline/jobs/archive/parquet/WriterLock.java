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
 * A lock on a file that the kernel releases when this process ends, however it ends. POSIX gives such a lock to the
 * whole process, and takes it away as soon as the process closes the file, through whichever of its descriptors: so a
 * file that anybody in this process has locked must not even be opened. Who has locked what is kept in the system
 * properties, which plugins share whose classes were loaded apart.
 */
final class WriterLock implements Closeable {
  private static final String PROPERTY = "io.lifeline.archive.lock.";

  private final FileChannel channel;
  private final String property;

  private WriterLock(FileChannel channel, String property) {
    this.channel = channel;
    this.property = property;
  }

  /** Takes the lock; null if somebody has it, here or in another process. */
  static WriterLock tryLock(Path file) throws IOException {
    try {
      Files.createFile(file);
    } catch (FileAlreadyExistsException e) {
      // It is there, and was not opened.
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

  /** The file itself, by whatever path it was reached. */
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

  /** The file is closed before anybody here may open it again. */
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
