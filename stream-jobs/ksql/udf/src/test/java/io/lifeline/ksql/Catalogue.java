package io.lifeline.ksql;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Level;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Locale;

/** Reads the standard events from the source of their C header. */
final class Catalogue {

  private static final Path FILE = Path.of("..", "..", "..", "schemas", "catalogue", "catalogue.json");

  private Catalogue() {}

  static EventType type(String name) {
    try {
      for (JsonNode group : new ObjectMapper().readTree(FILE.toFile()).get("groups")) {
        for (JsonNode event : group.get("events")) {
          if (event.get("name").asText().equals(name)) {
            return type(event);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new IllegalArgumentException("no standard event is called " + name);
  }

  private static EventType type(JsonNode event) {
    EventType.Builder type =
        EventType.named(event.get("name").asText()).level(Level.valueOf(upper(event.get("level"))));
    for (JsonNode field : event.get("fields")) {
      type.field(field.get("name").asText(), FieldType.valueOf(upper(field.get("type"))), field.get("unit").asText());
    }
    return type.build();
  }

  private static String upper(JsonNode text) {
    return text.asText().toUpperCase(Locale.ROOT);
  }
}
