package io.lifeline.jobs.archive.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Detects changed data files: a copy of a corrupted file would be wrong forever. */
final class FileHash {
  private static final int BUFFER_BYTES = 1 << 20;

  private FileHash() {}

  /** Returns the file's SHA-256, in hexadecimal digits. */
  static String of(Path file) throws IOException {
    MessageDigest digest = sha256();
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      while (channel.read(buffer) >= 0) {
        digest.update(buffer.flip());
        buffer.clear();
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Describes the damage of a data file; null if it matches its manifest as far as can be checked. */
  static String damage(ArchiveDirectory directory, Manifest.FileEntry file) throws IOException {
    Path path = directory.locate(file.name());
    if (Files.size(path) != file.bytes()) {
      return path + " has " + Files.size(path) + " bytes instead of " + file.bytes();
    }
    return file.sha256() == null || file.sha256().equals(of(path)) ? null
        : path + " was changed after it was written: its SHA-256 differs";
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
