package io.lifeline.console.access;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The audit log: a line of JSON per action, appended and synced. An action is recorded twice, before it with outcome
 * {@value #BEGUN} and after it with what became of it: what cannot be recorded is not done.
 */
public final class Audit {
  public static final String BEGUN = "begun";
  public static final String DONE = "done";
  /** What a terminal might interpret is escaped. */
  private static final ObjectMapper JSON = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private static final int MOST_DETAILS = 16 << 10;
  /** An event has at most 16 KiB by default. */
  private static final int MOST_EMITTED = 4 << 10;

  private final Path file;
  private final Clock clock;
  private final Consumer<Map<String, String>> events;

  private Audit(Path file, Clock clock, Consumer<Map<String, String>> events) {
    this.file = file;
    this.clock = clock;
    this.events = events;
  }

  /** Records nothing. */
  public static Audit none() {
    return new Audit(null, Clock.systemUTC(), fields -> {});
  }

  /** @throws IOException if the file cannot be opened */
  public static Audit of(Path file, Clock clock) throws IOException {
    Audit audit = new Audit(file, clock, fields -> {});
    audit.open().close();
    return audit;
  }

  /** Returns a log of the same file that also emits what became of each action: who, for whom, from where. */
  public Audit emitting(Consumer<Map<String, String>> sink) {
    return new Audit(file, clock, sink);
  }

  /**
   * Records an action.
   *
   * @param details what is done to what; no secrets
   * @param outcome {@link #BEGUN}, {@link #DONE}, or why it was refused or failed
   * @throws Refusal if the line cannot be written: then do not act
   */
  public synchronized void record(Identity who, String action, Map<String, Object> details, String outcome) {
    if (file != null) {
      write(who, action, details, outcome);
    }
    if (!outcome.equals(BEGUN)) {
      events.accept(fields(who, action, details, outcome));
    }
  }

  private static Map<String, String> fields(Identity who, String action, Map<String, Object> details,
      String outcome) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("who", who.name());
    fields.put("role", who.role().text());
    fields.put("on_behalf_of", who.onBehalfOf() == null ? "" : who.onBehalfOf());
    fields.put("from", who.from());
    fields.put("action", action);
    fields.put("outcome", outcome);
    try {
      String whole = JSON.writeValueAsString(details);
      fields.put("details", whole.substring(0, Math.min(whole.length(), MOST_EMITTED)));
    } catch (IOException e) {
      fields.put("details", "");
    }
    return fields;
  }

  private void write(Identity who, String action, Map<String, Object> details, String outcome) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("time", clock.instant().toString());
    line.put("who", who.name());
    line.put("role", who.role().text());
    line.put("onBehalfOf", who.onBehalfOf());
    line.put("from", who.from());
    line.put("action", action);
    line.put("outcome", outcome);
    try (FileChannel channel = open()) {
      String whole = JSON.writeValueAsString(details);
      line.put("details", whole.length() <= MOST_DETAILS ? details
          : Map.of("truncated", whole.substring(0, MOST_DETAILS)));
      // A disk that was full may have kept the beginning of a line.
      String text = (endsInLine() ? "" : "\n") + JSON.writeValueAsString(line) + "\n";
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    } catch (IOException e) {
      throw new Refusal(503, "the audit log " + file + " cannot be written: " + e.getMessage()
          + "; without it, nothing is changed");
    }
  }

  /** Opens the file for each line: it may be renamed, to begin a new one. */
  private FileChannel open() throws IOException {
    return FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private boolean endsInLine() throws IOException {
    try (RandomAccessFile read = new RandomAccessFile(file.toFile(), "r")) {
      if (read.length() == 0) {
        return true;
      }
      read.seek(read.length() - 1);
      return read.read() == '\n';
    }
  }
}
