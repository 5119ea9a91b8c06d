package io.lifeline.console.archive;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.TimeSpan;
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
  private static final long MOST_BYTES = 4 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<LinkedHashMap<String, Object>> MEMBERS = new TypeReference<>() {};

  private EventFields() {}

  /** Names an event among those of an object. */
  public static String key(String type, String timeNs) {
    return type + " " + timeNs;
  }

  /**
   * Returns the fields of the events of an id between these times, by {@link #key}; those not archived are missing, and
   * those beyond 4 MiB.
   */
  public static Map<String, Map<String, Object>> of(ArchiveReader archive, String id, TimeSpan span)
      throws IOException, SQLException {
    Map<String, Map<String, Object>> found = new HashMap<>();
    long bytes = 0;
    try (PreparedStatement query = archive.prepare("SELECT type, " + archive.timeNs() + " AS t, fields FROM "
        + archive.events(span) + " AS e WHERE id = ? AND " + archive.within(span.fromNs(), span.toNs()) + " LIMIT "
        + MOST_EVENTS)) {
      query.setString(1, id);
      try (ResultSet rows = query.executeQuery()) {
        while (bytes < MOST_BYTES && rows.next()) {
          String text = rows.getString(3);
          bytes += text.length();
          Map<String, Object> fields = JSON.readValue(text, MEMBERS);
          fields.replaceAll((name, value) -> Query.plain(value));
          found.put(key(rows.getString(1), rows.getString(2)), fields);
        }
      }
    } catch (JsonProcessingException e) {
      throw new IOException("an event of the object " + id + " has damaged fields: run lifeline verify", e);
    }
    return found;
  }
}
