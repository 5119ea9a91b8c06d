package io.lifeline.jobs.archive.parquet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Adds what earlier releases did not write into their manifests. */
final class OldManifests {
  private OldManifests() {}

  /** Returns whether {@link #upgrade} of a manifest that begins with these properties depends on its routes. */
  static boolean needRoutes(JsonNode properties) {
    return properties.path("version").asInt() == 1;
  }

  static JsonNode upgrade(JsonNode manifest) {
    addMissing(manifest, "source");
    addMissing(manifest, "last_message");
    if (manifest instanceof ObjectNode object && !object.has("rolls")) {
      object.put("rolls", Math.max(1, object.path("replaces").size()));
    }
    manifest.path("files").forEach(file -> {
      addMissing(file, "sha256");
      addMissing(file, "times");
      if (file instanceof ObjectNode object && !object.has("received_ms")) {
        object.put("received_ms", newestMs(manifest));
      }
    });
    return manifest;
  }

  private static void addMissing(JsonNode node, String name) {
    if (node instanceof ObjectNode object && !object.has(name)) {
      object.putNull(name);
    }
  }

  private static long newestMs(JsonNode manifest) {
    long newest = 0;
    for (JsonNode route : manifest.path("routes")) {
      newest = Math.max(newest, route.path("last_broker_time_ms").asLong());
    }
    return newest;
  }
}
