package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Merges the files of many rolls into a few, while writers write and readers read.
 *
 * <p>A compaction is published like a roll, by one manifest that lists the manifests it replaces; from then on those
 * are ignored. It then removes them. Their data files stay for a grace period, for readers that opened the archive
 * earlier, and are deleted by a later compaction. After a crash at any moment either the old or the new manifests are
 * valid.
 */
public final class Compactor {
  private static final long DUCKDB_BYTES = 1L << 30;

  private final ParquetOptions options;
  private final ArchiveDirectory directory;
  private final long targetBytes;
  private final Duration grace;
  private final Consumer<PublicationStep> progress;

  /**
   * Result of a compaction.
   *
   * @param damages damaged files that were not merged, one sentence each
   */
  public record Result(int manifestsBefore, int manifestsAfter, int filesBefore, int filesAfter, int filesDeleted,
      List<String> damages) {}

  /**
   * @param targetBytes maximum total size of the files of rolls merged together
   * @param grace how long replaced data files are kept
   */
  public Compactor(ParquetOptions options, long targetBytes, Duration grace) {
    this(options, targetBytes, grace, step -> {});
  }

  Compactor(ParquetOptions options, long targetBytes, Duration grace, Consumer<PublicationStep> progress) {
    this.options = options;
    this.directory = new ArchiveDirectory(options.directory());
    this.targetBytes = targetBytes;
    this.grace = grace;
    this.progress = progress;
  }

  /**
   * Merges all rolls that can be merged.
   *
   * @throws ArchiveCollisionException if another compaction is running
   */
  public Result compact() throws IOException {
    if (!Files.isDirectory(options.directory())) {
      throw new ArchiveException("there is no archive at " + options.directory());
    }
    directory.create();
    try (WriterLock lock = directory.lock("compaction", "the compaction");
        DuckTables duck = new DuckTables(options.threads(), DUCKDB_BYTES)) {
      Map<String, Manifest> before = Manifests.readByName(directory);
      List<String> damages = new ArrayList<>();
      finishFormerOnes(before, damages);
      int deleted = deleteObsolete(before.values());
      for (Map<String, Manifest> group : groups(before)) {
        for (Map<String, Manifest> sound : soundParts(group, damages)) {
          try {
            merge(sound, duck);
          } catch (ArchiveWriteException | ArchiveCollisionException e) {
            throw e;
          } catch (ArchiveException e) { // damaged, and without a hash
            damages.add(e.getMessage());
          }
        }
      }
      Map<String, Manifest> after = Manifests.readByName(directory);
      return new Result(before.size(), after.size(), files(before), files(after), deleted,
          List.copyOf(damages));
    }
  }

  private static int files(Map<String, Manifest> manifests) {
    return manifests.values().stream().mapToInt(manifest -> manifest.files().size()).sum();
  }

  /** Finishes published compactions that were interrupted, and removes the files of unpublished ones. */
  private void finishFormerOnes(Map<String, Manifest> manifests, List<String> damages) throws IOException {
    Publication publication = new Publication(directory, progress);
    for (Manifest manifest : manifests.values()) {
      if (!manifest.replaces().isEmpty()) {
        try {
          publication.rollForward(manifest.files());
          removeReplaced(manifest);
        } catch (ArchiveException e) { // a file is lost, but its sources may still exist
          damages.add(e.getMessage());
        }
      }
    }
    for (String name : ArchiveDirectory.names(directory.data())) {
      if (name.startsWith("compact-") && name.endsWith(ArchiveDirectory.TEMPORARY)) {
        Files.deleteIfExists(directory.data().resolve(name));
      }
    }
  }

  private void removeReplaced(Manifest manifest) throws IOException {
    boolean removed = false;
    for (String name : manifest.replaces()) {
      removed |= Files.deleteIfExists(directory.manifests().resolve(name));
    }
    if (removed) {
      ArchiveDirectory.sync(directory.manifests());
    }
  }

  private int deleteObsolete(Collection<Manifest> manifests) throws IOException {
    Instant now = Instant.now();
    int deleted = 0;
    for (Manifest manifest : manifests) {
      if (Instant.parse(manifest.written()).plus(grace).isBefore(now) && isInPlace(manifest)) {
        for (String name : manifest.obsolete()) {
          deleted += Files.deleteIfExists(directory.data().resolve(name)) ? 1 : 0;
        }
      }
    }
    return deleted;
  }

  /** Returns groups of at least two adjacent rolls of a partition that are small enough to be merged. */
  private List<Map<String, Manifest>> groups(Map<String, Manifest> manifests) throws IOException {
    List<Map<String, Manifest>> groups = new ArrayList<>();
    Map<String, Manifest> group = new LinkedHashMap<>();
    int partition = -1;
    long bytes = 0;
    for (Map.Entry<String, Manifest> entry : Manifests.ordered(manifests)) {
      Manifest manifest = entry.getValue();
      long size = manifest.files().stream().mapToLong(Manifest.FileEntry::bytes).sum();
      if (manifest.partition() != partition || bytes + size > targetBytes || !isInPlace(manifest)) {
        groups.add(group);
        group = new LinkedHashMap<>();
        bytes = 0;
      }
      partition = manifest.partition();
      if (isInPlace(manifest)) {
        group.put(entry.getKey(), manifest);
        bytes += size;
      }
    }
    groups.add(group);
    groups.removeIf(candidate -> candidate.size() < 2);
    return groups;
  }

  /** Returns whether all files have been renamed to their final names. */
  private boolean isInPlace(Manifest manifest) {
    return manifest.files().stream().allMatch(file -> Files.exists(directory.data().resolve(file.name())));
  }

  private void merge(Map<String, Manifest> group, DuckTables duck) throws IOException {
    List<Manifest> old = List.copyOf(group.values());
    int partition = old.get(0).partition();
    long from = old.get(0).from();
    long to = old.get(old.size() - 1).to();
    String unique = UUID.randomUUID().toString().substring(0, 8);
    DataFiles files = new DataFiles(directory, duck, "compact-%d-%s".formatted(partition, unique));
    Map<String, TypeEntry> types = new LinkedHashMap<>();
    old.forEach(manifest -> manifest.types().forEach(type -> types.putIfAbsent(type.id(), type)));
    String name = ArchiveDirectory.compactedName(partition, from, to);
    Publication publication = new Publication(directory, progress);
    Manifest merged;
    try {
      writeMerged(old, types, files);
      merged = new Manifest(Manifest.VERSION, partition, from, to, Instant.now().toString(), files.entries(),
          List.copyOf(types.values()), routes(old), old.stream().mapToLong(Manifest::duplicates).sum(),
          old.stream().mapToLong(Manifest::rejected).sum(), List.copyOf(group.keySet()), obsolete(old),
          old.get(old.size() - 1).source(), old.get(old.size() - 1).lastMessage());
      publication.publish(name, merged);
    } catch (IOException | RuntimeException e) {
      if (!Files.exists(directory.manifests().resolve(name))) {
        files.remove();
      }
      throw e;
    }
    publication.rollForward(merged.files());
    removeReplaced(merged);
  }

  /** Splits a group at damaged files. They must not be merged: the copy would look sound but stay wrong forever. */
  private List<Map<String, Manifest>> soundParts(Map<String, Manifest> group, List<String> damages) {
    List<Map<String, Manifest>> parts = new ArrayList<>();
    Map<String, Manifest> part = new LinkedHashMap<>();
    for (Map.Entry<String, Manifest> manifest : group.entrySet()) {
      String damage = manifest.getValue().files().stream().map(file -> Verifier.damage(directory, file))
          .filter(Objects::nonNull).findFirst().orElse(null);
      if (damage == null) {
        part.put(manifest.getKey(), manifest.getValue());
      } else {
        damages.add(damage + ". It is not merged with others: restore it from a backup, or remove the manifest "
            + manifest.getKey() + " and those after it of its partition to have their messages read again;"
            + " 'lifeline-jobs verify' looks at all files");
        parts.add(part);
        part = new LinkedHashMap<>();
      }
    }
    parts.add(part);
    parts.removeIf(candidate -> candidate.size() < 2);
    return parts;
  }

  private void writeMerged(List<Manifest> old, Map<String, TypeEntry> types, DataFiles files) throws IOException {
    Map<String, List<String>> own = new LinkedHashMap<>();
    Map<String, Long> ownRows = new LinkedHashMap<>();
    List<String> shared = new ArrayList<>();
    List<String> batches = new ArrayList<>();
    Set<String> sharedTypes = new LinkedHashSet<>();
    long sharedRows = 0;
    long batchRows = 0;
    for (Manifest manifest : old) {
      for (Manifest.FileEntry file : manifest.files()) {
        String path = directory.data().resolve(file.name()).toString();
        switch (file.kind()) {
          case TYPE -> {
            own.computeIfAbsent(file.types().get(0), id -> new ArrayList<>()).add(path);
            ownRows.merge(file.types().get(0), file.rows(), Long::sum);
          }
          case SHARED -> {
            shared.add(path);
            sharedTypes.addAll(file.types());
            sharedRows += file.rows();
          }
          case BATCHES -> {
            batches.add(path);
            batchRows += file.rows();
          }
        }
      }
    }
    for (Map.Entry<String, List<String>> type : own.entrySet()) {
      files.write(Manifest.Kind.TYPE, List.of(type.getKey()),
          "FROM read_parquet(" + Sql.literals(type.getValue()) + ")", ownRows.get(type.getKey()));
    }
    if (!shared.isEmpty()) {
      files.write(Manifest.Kind.SHARED, List.copyOf(sharedTypes),
          "FROM read_parquet(" + Sql.literals(shared) + ", union_by_name = true)", sharedRows);
    }
    if (!batches.isEmpty()) {
      files.write(Manifest.Kind.BATCHES, List.of(), BatchRows.read(batches), batchRows);
    }
  }

  private static List<RouteEntry> routes(List<Manifest> manifests) {
    Map<RouteKey, RouteEntry> routes = new LinkedHashMap<>();
    for (Manifest manifest : manifests) {
      manifest.routes().forEach(route -> routes.merge(route.key(), route, RouteEntry::merge));
    }
    return List.copyOf(routes.values());
  }

  /** Returns the data files that the merged ones replace, and earlier obsolete ones that still exist. */
  private List<String> obsolete(List<Manifest> manifests) {
    List<String> names = new ArrayList<>();
    for (Manifest manifest : manifests) {
      manifest.files().forEach(file -> names.add(file.name()));
      for (String name : manifest.obsolete()) {
        if (Files.exists(directory.data().resolve(name))) {
          names.add(name);
        }
      }
    }
    return names;
  }
}
