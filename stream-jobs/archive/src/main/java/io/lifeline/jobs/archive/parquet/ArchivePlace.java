package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory that a lock was taken in. The kernel locks an inode, but files are written by path. While the path
 * leads elsewhere (an unmounted file system, a directory that was moved or restored), nothing may be published or
 * deleted.
 */
final class ArchivePlace {
  private final ArchiveDirectory directory;
  private final String id;
  private final List<Object> inodes;

  /** @param directory one that the caller has taken a lock in */
  ArchivePlace(ArchiveDirectory directory) throws IOException {
    this.directory = directory;
    this.id = directory.requireId();
    this.inodes = inodes();
  }

  /** @throws ArchiveUnavailableException if the path does not lead to the locked archive */
  void check() throws ArchiveUnavailableException {
    IOException cause = null;
    boolean isSame = false;
    try {
      isSame = inodes().equals(inodes) && id.equals(directory.id());
    } catch (IOException e) {
      cause = e;
    }
    if (!isSame) {
      throw new ArchiveUnavailableException("the directory " + directory.root() + " was unmounted, moved or replaced"
          + " while the archive was open: nothing is written until the archive " + id + " is there again", cause);
    }
  }

  private List<Object> inodes() throws IOException {
    List<Object> keys = new ArrayList<>();
    for (Path folder : List.of(directory.root(), directory.manifests(), directory.data(), directory.locks())) {
      Object key = Files.readAttributes(folder, BasicFileAttributes.class).fileKey();
      keys.add(key == null ? folder.toRealPath() : key);
    }
    return keys;
  }
}
