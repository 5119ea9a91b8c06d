package io.lifeline.console.webhook;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Keeps webhooks in a file that only its owner reads, because of the secrets. */
final class WebhookFile {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<PosixFilePermission> PRIVATE =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private record Contents(List<Webhook> webhooks) {}

  private final Path path;

  WebhookFile(Path path) {
    this.path = path.toAbsolutePath();
  }

  /** Returns none if the file does not exist. */
  List<Webhook> read() throws IOException {
    if (!Files.exists(path)) {
      return List.of();
    }
    if (!PRIVATE.containsAll(Files.getPosixFilePermissions(path))) {
      throw new IOException(path + " holds secrets and can be read by others: chmod 600 " + path);
    }
    try {
      Contents contents = JSON.readValue(path.toFile(), Contents.class);
      if (contents == null || contents.webhooks() == null) {
        throw new IOException(path + " is not a file of webhooks: give another one, or delete it");
      }
      return contents.webhooks();
    } catch (JsonMappingException e) {
      throw new IOException(path + " is not a file of webhooks: " + e.getOriginalMessage(), e);
    } catch (JsonProcessingException e) {
      throw new IOException(path + " is not JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** Replaces the file as a whole. */
  void write(List<Webhook> webhooks) throws IOException {
    Path temporary = Files.createTempFile(path.getParent(), "." + path.getFileName(), ".tmp",
        PosixFilePermissions.asFileAttribute(PRIVATE));
    try {
      Files.write(temporary, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(new Contents(webhooks)));
      try (FileChannel written = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
        written.force(true);
      }
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }
}
