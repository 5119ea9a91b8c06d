package io.lifeline.console.archive;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** Finds the fields of an object's events in the archive. */
public final class EventFields {
  private static final int MOST_EVENTS = 10_000;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<LinkedHashMap<String, Object>> MEMBERS = new TypeReference<>() {};

  private final ArchiveAccess archive;

  public EventFields(ArchiveAccess archive) {
    this.archive = archive;
  }

  /** Names an event among those of an object. */
  public static String key(String type, String timeNs) {
    return type + " " + timeNs;
  }

  /** Returns the fields of the events of an id between these times, by {@link #key}; those not archived are missing. */
  public Map<String, Map<String, Object>> of(String id, long fromNs, long toNs) throws IOException, SQLException {
    return archive.ask(reader -> {
      Map<String, Map<String, Object>> found = new HashMap<>();
      try (PreparedStatement query = reader.prepare("SELECT type, " + reader.timeNs() + " AS t, fields FROM events"
          + " WHERE id = ? AND " + reader.timeNs() + " BETWEEN ? AND ? LIMIT " + MOST_EVENTS)) {
        query.setString(1, id);
        query.setLong(2, fromNs);
        query.setLong(3, toNs);
        try (ResultSet rows = query.executeQuery()) {
          while (rows.next()) {
            Map<String, Object> fields = JSON.readValue(rows.getString(3), MEMBERS);
            fields.replaceAll((name, value) -> Query.plain(value));
            found.put(key(rows.getString(1), rows.getString(2)), fields);
          }
        }
      } catch (JsonProcessingException e) {
        throw new IOException("an event of the object " + id + " has damaged fields: run lifeline verify", e);
      }
      return found;
    });
  }
}
