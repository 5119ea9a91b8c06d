package io.lifeline.jobs.archive.parquet;

import com.fasterxml.jackson.core.JacksonException;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;

/** The manifests of an archive: the list of what it holds. */
public final class Manifests {
  private static final int READ_ATTEMPTS = 5;
  private static final Comparator<Manifest> ORDER =
      Comparator.comparingInt(Manifest::partition).thenComparingLong(Manifest::from);

  private Manifests() {}

  /** The manifests that count, ordered by partition and offset: those that no compaction has replaced. */
  public static List<Manifest> read(ArchiveDirectory directory) throws IOException {
    return readByName(directory).values().stream().sorted(ORDER).toList();
  }

  static Map<String, Manifest> readByName(ArchiveDirectory directory) throws IOException {
    return readByName(directory, new TreeMap<>());
  }

  /**
   * As {@link #read}, by name.
   *
   * @param known manifests that were read before: they never change. Brought up to date.
   */
  static Map<String, Manifest> readByName(ArchiveDirectory directory, Map<String, Manifest> known)
      throws IOException {
    for (int attempt = 1; ; attempt++) {
      List<String> names = names(directory);
      try {
        known.keySet().retainAll(names);
        for (String name : names) {
          if (!known.containsKey(name)) {
            known.put(name, parse(directory.manifests().resolve(name)));
          }
        }
        // A listing is no snapshot: one that a compaction overtakes may lack the old manifests and the new one.
        if (attempt == READ_ATTEMPTS || known.keySet().containsAll(compacted(names(directory)))) {
          return current(directory, known);
        }
      } catch (NoSuchFileException e) {
        // A compaction removed it between the listing and the reading; its successor is in the next listing.
        if (attempt == READ_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** By partition and offset. */
  static List<Map.Entry<String, Manifest>> ordered(Map<String, Manifest> manifests) {
    return manifests.entrySet().stream().sorted(Map.Entry.comparingByValue(ORDER)).toList();
  }

  static List<String> names(ArchiveDirectory directory) throws IOException {
    return ArchiveDirectory.names(directory.manifests()).stream().filter(name -> name.endsWith(".json")).toList();
  }

  private static List<String> compacted(List<String> names) {
    return names.stream().filter(ArchiveDirectory::isCompacted).toList();
  }

  private static Map<String, Manifest> current(ArchiveDirectory directory, Map<String, Manifest> all)
      throws ArchiveException {
    Set<String> replaced = new HashSet<>();
    all.values().forEach(manifest -> replaced.addAll(manifest.replaces()));
    Map<String, Manifest> current = new TreeMap<>(all);
    current.keySet().removeAll(replaced);
    checkTiling(directory, current.values());
    return current;
  }

  private static void checkTiling(ArchiveDirectory directory, Collection<Manifest> manifests) throws ArchiveException {
    List<Manifest> ordered = new ArrayList<>(manifests);
    ordered.sort(ORDER);
    for (int i = 1; i < ordered.size(); i++) {
      Manifest before = ordered.get(i - 1);
      Manifest after = ordered.get(i);
      if (before.partition() == after.partition() && before.to() != after.from()) {
        throw new ArchiveException("the archive " + directory.root() + " is inconsistent: partition "
            + after.partition() + " has a manifest up to offset " + before.to() + " and then one from offset "
            + after.from() + "; restore its manifests from a backup");
      }
    }
  }

  private static Manifest parse(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    try {
      Manifest manifest = Json.MAPPER.readValue(bytes, Manifest.class);
      if (manifest.version() != Manifest.VERSION) {
        throw new ArchiveException("the manifest " + file + " has version " + manifest.version()
            + ", which this program does not know: use a newer one");
      }
      return manifest;
    } catch (JacksonException e) {
      throw new ArchiveException("the manifest " + file + " is damaged: restore it from a backup", e);
    }
  }

  /**
   * Makes a manifest part of the archive, all at once: it is written and synced under a temporary name, and link(2)
   * gives it its own, which fails if there is one of that name already.
   *
   * @throws ArchiveCollisionException if another writer published this range first
   */
  static void publish(
      ArchiveDirectory directory, String name, Manifest manifest, Consumer<PublicationStep> progress)
      throws IOException {
    if (manifest.replaces().isEmpty() && isCompacted(directory, manifest)) {
      throw collision(directory, manifest);
    }
    Path temporary = directory.manifests().resolve(name + "." + UUID.randomUUID() + ArchiveDirectory.TEMPORARY);
    try {
      try (FileChannel channel =
          FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        ByteBuffer bytes = ByteBuffer.wrap(Json.MAPPER.writeValueAsBytes(manifest));
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
        channel.force(true);
      }
      progress.accept(PublicationStep.MANIFEST_WRITTEN);
      Files.createLink(directory.manifests().resolve(name), temporary);
    } catch (FileAlreadyExistsException e) {
      throw collision(directory, manifest);
    } finally {
      Files.deleteIfExists(temporary);
    }
    progress.accept(PublicationStep.MANIFEST_LINKED);
    ArchiveDirectory.sync(directory.manifests());
  }

  private static ArchiveCollisionException collision(ArchiveDirectory directory, Manifest manifest) {
    return new ArchiveCollisionException("another writer has already archived partition " + manifest.partition()
        + " from offset " + manifest.from() + " in " + directory.root()
        + ": only one may write a partition; stop one of the two");
  }

  /** Whether a compaction holds the manifest's first offset already, so that its name may be free again. */
  private static boolean isCompacted(ArchiveDirectory directory, Manifest manifest) throws IOException {
    for (String name : names(directory)) {
      if (ArchiveDirectory.compactedUpTo(name, manifest.partition()) > manifest.from()) {
        return true;
      }
    }
    return false;
  }
}
