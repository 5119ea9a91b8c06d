package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.RouteEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/** Adds written data files to the archive, all or none, in the order of {@link PublicationStep}. */
final class Publication {
  private final ArchiveDirectory directory;
  private final ArchivePlace place;
  private final Consumer<PublicationStep> progress;

  Publication(ArchiveDirectory directory, ArchivePlace place, Consumer<PublicationStep> progress) {
    this.directory = directory;
    this.place = place;
    this.progress = progress;
  }

  /**
   * Syncs the written files and publishes the manifest that names them. After this they belong to the archive.
   *
   * @param routes of the manifest
   * @param written the manifest's files that are not published yet
   */
  void publish(String manifestName, Manifest manifest, Collection<RouteEntry> routes,
      List<Manifest.FileEntry> written) throws IOException {
    progress.accept(PublicationStep.FILES_WRITTEN);
    place.check();
    for (Manifest.FileEntry file : written) {
      ArchiveDirectory.sync(temporary(file));
    }
    ArchiveDirectory.sync(directory.data());
    progress.accept(PublicationStep.FILES_SYNCED);
    for (Manifest.FileEntry file : manifest.files()) {
      requireSomewhere(file);
    }
    Manifests.publish(directory, place, manifestName, manifest, routes, progress);
  }

  /** Renames the files of a published manifest to their final names, where that is still to do. */
  void rollForward(List<Manifest.FileEntry> files) throws IOException {
    boolean renamed = false;
    for (Manifest.FileEntry file : files) {
      if (rename(file) && !renamed) {
        renamed = true;
        progress.accept(PublicationStep.FIRST_FILE_RENAMED);
      }
    }
    if (renamed) {
      ArchiveDirectory.sync(directory.data());
    }
    progress.accept(PublicationStep.FILES_RENAMED);
  }

  private boolean rename(Manifest.FileEntry file) throws IOException {
    if (!Files.exists(temporary(file))) {
      requireSomewhere(file);
      return false;
    }
    try {
      Files.move(temporary(file), directory.data().resolve(file.name()), StandardCopyOption.ATOMIC_MOVE);
      return true;
    } catch (NoSuchFileException e) {
      // Another process has just finished the same publication.
      requireSomewhere(file);
      return false;
    }
  }

  /** Fails if a file is gone: a writer that wrongly took the partition removes unpublished files. */
  private void requireSomewhere(Manifest.FileEntry file) throws ArchiveException {
    Path published = directory.data().resolve(file.name());
    if (!Files.exists(temporary(file)) && !Files.exists(published)) {
      throw directory.lost(published);
    }
  }

  private Path temporary(Manifest.FileEntry file) {
    return directory.data().resolve(file.name() + ArchiveDirectory.TEMPORARY);
  }
}
