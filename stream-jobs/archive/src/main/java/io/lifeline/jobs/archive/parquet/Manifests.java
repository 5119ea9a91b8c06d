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
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Reads and publishes the manifests of an archive, which list its content. */
public final class Manifests {
  private static final String END = ".end";
  private static final int READ_ATTEMPTS = 5;
  private static final Comparator<Manifest> ORDER =
      Comparator.comparingInt(Manifest::partition).thenComparingLong(Manifest::from);

  private Manifests() {}

  /** Returns the valid manifests, which no other one has replaced, ordered by partition and offset. */
  public static List<Manifest> read(ArchiveDirectory directory) throws IOException {
    return readByName(directory).values().stream().sorted(ORDER).toList();
  }

  /** Returns the valid manifests of one partition. */
  static List<Manifest> read(ArchiveDirectory directory, int partition) throws IOException {
    return List.copyOf(readByName(directory, partition).values());
  }

  /** As {@link #read}, by name. */
  static Map<String, Manifest> readByName(ArchiveDirectory directory) throws IOException {
    return readByName(directory, "", new TreeMap<>(), UnaryOperator.identity());
  }

  /** Returns the valid manifests of one partition by name, ordered by offset. */
  static Map<String, Manifest> readByName(ArchiveDirectory directory, int partition) throws IOException {
    Map<String, Manifest> ordered = new LinkedHashMap<>();
    readByName(directory, partition + "-", new TreeMap<>(), UnaryOperator.identity()).entrySet().stream()
        .sorted(Map.Entry.comparingByValue(ORDER)).forEach(entry -> ordered.put(entry.getKey(), entry.getValue()));
    return ordered;
  }

  /**
   * As {@link #read}, by name.
   *
   * @param known manifests read before, which never change; updated by this call
   * @param excerpt what the caller keeps of a manifest: its range and what it replaces at least
   */
  static Map<String, Manifest> readByName(ArchiveDirectory directory, Map<String, Manifest> known,
      UnaryOperator<Manifest> excerpt) throws IOException {
    return readByName(directory, "", known, excerpt);
  }

  private static Map<String, Manifest> readByName(ArchiveDirectory directory, String prefix,
      Map<String, Manifest> known, UnaryOperator<Manifest> excerpt) throws IOException {
    for (int attempt = 1; ; attempt++) {
      Map<Integer, Long> ends = ends(directory);
      ends.keySet().removeIf(partition -> !(partition + "-").startsWith(prefix));
      List<String> names = names(directory, prefix);
      try {
        known.keySet().retainAll(names);
        for (String name : names) {
          if (!known.containsKey(name)) {
            known.put(name, excerpt.apply(parse(directory.manifests().resolve(name))));
          }
        }
        // A listing is not a snapshot: during a compaction it may lack both the old manifests and the new one.
        if (attempt == READ_ATTEMPTS || known.keySet().containsAll(compacted(names(directory, prefix)))) {
          Map<String, Manifest> current = current(directory, known);
          checkEnds(directory, ends, current.values());
          return current;
        }
      } catch (NoSuchFileException e) {
        // A compaction removed it after the listing; its successor is in the next listing.
        if (attempt == READ_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** Returns the partitions that have manifests. */
  static SortedSet<Integer> partitions(ArchiveDirectory directory) throws IOException {
    return names(directory, "").stream().map(ArchiveDirectory::partitionOf)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  static List<String> names(ArchiveDirectory directory, String prefix) throws IOException {
    return ArchiveDirectory.names(directory.manifests()).stream()
        .filter(name -> name.startsWith(prefix) && name.endsWith(".json")).toList();
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
      Manifest manifest = Json.MAPPER.treeToValue(OldManifests.upgrade(Json.MAPPER.readTree(bytes)), Manifest.class)
          .clean();
      if (manifest.version() > Manifest.VERSION) {
        throw new ArchiveException("the manifest " + file + " has version " + manifest.version()
            + ", which this program does not know: use a newer one");
      }
      return manifest;
    } catch (JacksonException e) {
      throw new ArchiveException("the manifest " + file + " is damaged: restore it from a backup", e);
    }
  }

  /**
   * Adds a manifest to the archive atomically: it is written and synced under a temporary name, then link(2) creates
   * its final name, which fails if that name exists already.
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
    if (manifest.replaces().isEmpty()) { // one that replaces others does not move the end; the writer may be beyond it
      noteEnd(directory, manifest);
    }
  }

  /**
   * Records the end of a partition, so that a lost last manifest is detected. After a crash the record may lag behind.
   */
  private static void noteEnd(ArchiveDirectory directory, Manifest manifest) throws IOException {
    Path end = directory.manifests().resolve(manifest.partition() + END);
    Path temporary = directory.manifests().resolve(manifest.partition() + END + "." + UUID.randomUUID()
        + ArchiveDirectory.TEMPORARY);
    try {
      Files.writeString(temporary, Long.toString(manifest.to()));
      ArchiveDirectory.sync(temporary);
      Files.move(temporary, end, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // The manifest is published; an outdated end only detects less.
      Files.deleteIfExists(temporary);
    }
  }

  /** Returns the recorded end of each partition. */
  private static Map<Integer, Long> ends(ArchiveDirectory directory) throws IOException {
    Map<Integer, Long> ends = new TreeMap<>();
    for (String name : ArchiveDirectory.names(directory.manifests())) {
      String text = name.endsWith(END) ? Files.readString(directory.manifests().resolve(name)) : "";
      if (text.matches("\\d{1,18}")) {
        ends.put(Integer.parseInt(name.substring(0, name.length() - END.length())), Long.parseLong(text));
      }
    }
    return ends;
  }

  private static void checkEnds(ArchiveDirectory directory, Map<Integer, Long> ends, Collection<Manifest> manifests)
      throws ArchiveException {
    Map<Integer, Long> found = new TreeMap<>();
    manifests.forEach(manifest -> found.merge(manifest.partition(), manifest.to(), Math::max));
    for (Map.Entry<Integer, Long> end : ends.entrySet()) {
      long last = found.getOrDefault(end.getKey(), 0L);
      if (last < end.getValue()) {
        throw new ArchiveException("the archive " + directory.root() + " has lost the last manifests of partition "
            + end.getKey() + ": it went up to offset " + end.getValue() + " and now ends at " + last
            + "; restore its manifests from a backup, or remove " + directory.manifests().resolve(end.getKey() + END)
            + " to continue there and read again the messages that the broker still has");
      }
    }
  }

  private static ArchiveCollisionException collision(ArchiveDirectory directory, Manifest manifest) {
    return new ArchiveCollisionException("another writer has already archived partition " + manifest.partition()
        + " from offset " + manifest.from() + " in " + directory.root()
        + ": only one may write a partition; stop one of the two");
  }

  /** Returns whether a compaction covers the manifest's first offset, so that its name may be free again. */
  private static boolean isCompacted(ArchiveDirectory directory, Manifest manifest) throws IOException {
    for (String name : names(directory, manifest.partition() + "-")) {
      if (ArchiveDirectory.compactedUpTo(name, manifest.partition()) > manifest.from()) {
        return true;
      }
    }
    return false;
  }
}
