package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.archive.parquet.Manifest.FileEntry;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Replaces adjacent manifests of a partition by one that sums them up. It is published like a roll; from then on the
 * ones that it names are ignored. They stay for a while, like their data files, for readers that opened the archive
 * earlier. The books stay: types and routes are those of all the rolls, whatever becomes of their files.
 */
final class Replacement {
  private final ArchiveDirectory directory;
  private final DuckTables duck;
  private final Publication publication;

  Replacement(ArchiveDirectory directory, DuckTables duck, Publication publication) {
    this.directory = directory;
    this.duck = duck;
    this.publication = publication;
  }

  /** @param group manifests by name, ordered by offset */
  void replace(Map<String, Manifest> group, FilePlan plan) throws IOException {
    List<Manifest> old = List.copyOf(group.values());
    Manifest last = old.get(old.size() - 1);
    String name = ArchiveDirectory.compactedName(last.partition(), old.get(0).from(), last.to(), group.keySet());
    String unique = UUID.randomUUID().toString().substring(0, 8);
    DataFiles written = new DataFiles(directory, duck,
        String.format(Locale.ROOT, "compact-%d-%s", last.partition(), unique));
    Collection<RouteEntry> routes = routes(group.keySet());
    Manifest sum;
    try {
      for (List<FileEntry> files : plan.merged()) {
        merge(files, written);
      }
      sum = sum(group, plan, written.entries());
      publication.publish(name, sum, routes, written.entries());
    } catch (IOException | RuntimeException e) {
      if (!Files.exists(directory.manifests().resolve(name))) {
        written.remove();
      }
      throw e;
    }
    finish(sum);
  }

  /** Completes a published replacement, where that is still to do. */
  void finish(Manifest sum) throws IOException {
    publication.rollForward(sum.files());
  }

  private Collection<RouteEntry> routes(Set<String> names) throws IOException {
    Map<RouteKey, RouteEntry> routes = new LinkedHashMap<>();
    for (String name : names) {
      Manifests.forEachRoute(directory, name, route -> routes.merge(route.key(), route, RouteEntry::merge));
    }
    return routes.values();
  }

  private Manifest sum(Map<String, Manifest> group, FilePlan plan, List<FileEntry> written) {
    List<Manifest> old = List.copyOf(group.values());
    Manifest last = old.get(old.size() - 1);
    Map<String, TypeEntry> types = new LinkedHashMap<>();
    old.forEach(manifest -> manifest.types().forEach(type -> types.putIfAbsent(type.id(), type)));
    return new Manifest(Manifest.VERSION, last.partition(), old.get(0).from(), last.to(), Instant.now().toString(),
        old.stream().mapToLong(Manifest::rolls).sum(), Stream.concat(plan.kept().stream(), written.stream()).toList(),
        List.copyOf(types.values()), old.stream().mapToLong(Manifest::duplicates).sum(),
        old.stream().mapToLong(Manifest::rejected).sum(), replaces(group), obsolete(old, plan), last.source(),
        last.lastMessage());
  }

  /** Returns the manifests that are replaced, and those that they replaced and that still exist. */
  private List<String> replaces(Map<String, Manifest> group) {
    return Stream.concat(group.keySet().stream(), group.values().stream().flatMap(old -> old.replaces().stream())
        .filter(name -> Files.exists(directory.manifests().resolve(name)))).toList();
  }

  /** Returns the files that are no longer used, and earlier obsolete ones that still exist. */
  private List<String> obsolete(List<Manifest> old, FilePlan plan) {
    List<String> names = new ArrayList<>();
    Stream.concat(plan.copied().stream(), plan.expired().stream()).forEach(file -> names.add(file.name()));
    for (Manifest manifest : old) {
      for (String name : manifest.obsolete()) {
        if (Files.exists(directory.data().resolve(name))) {
          names.add(name);
        }
      }
    }
    return names;
  }

  private void merge(List<FileEntry> files, DataFiles written) throws IOException {
    List<String> paths = files.stream().map(file -> directory.data().resolve(file.name()).toString()).toList();
    Set<String> types = new LinkedHashSet<>();
    files.forEach(file -> types.addAll(file.types()));
    Manifest.Kind kind = files.get(0).kind();
    String query = switch (kind) {
      case TYPE -> "FROM read_parquet(" + Sql.literals(paths) + ")";
      case SHARED -> "FROM read_parquet(" + Sql.literals(paths) + ", union_by_name = true)";
      case BATCHES -> BatchRows.read(paths);
    };
    written.write(kind, List.copyOf(types), query, files.stream().mapToLong(FileEntry::rows).sum(),
        files.stream().mapToLong(FileEntry::receivedMs).max().orElseThrow());
  }
}
