package io.lifeline.jobs.archive;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.util.HexFormat;

/**
 * Two sessions, one within the other, on the hosts a and b, which a probe measures; and one that is only a name in a
 * context.
 */
public final class SessionScene {
  public static final String OUTER = "0af7651916cd43dd8448eb211c80319c";
  public static final String INNER = "11f7651916cd43dd8448eb211c80319c";

  private static final long MS = 1_000_000; // PostgreSQL's timestamps are not exact to the nanosecond

  private static final EventType START = EventType.named("session.start").field("id", FieldType.BYTES)
      .field("parent", FieldType.BYTES).field("name", FieldType.STRING).field("traceparent", FieldType.STRING).build();
  private static final EventType END =
      EventType.named("session.end").field("id", FieldType.BYTES).field("ok", FieldType.BOOL).build();
  private static final EventType WORK = EventType.named("work").field("id", FieldType.U64).build();
  private static final EventType CPU = EventType.named("host.cpu").field("user", FieldType.U64).build();
  private static final EventType TCP =
      EventType.named("tcp.info").field("session", FieldType.BYTES).field("rtt", FieldType.U32).build();

  private SessionScene() {}

  /** Returns the time of an event, in nanoseconds since 1970. */
  public static long time(long ms) {
    return 1_790_000_000_000_000_000L + ms * MS;
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  private static BatchWriter batch(int emitter, long sequence, String host, String program) {
    return Archives.batch(new Incarnation(7, emitter), sequence).host(host).program(program);
  }

  /** Writes all of it, and closes the writer. */
  public static void archive(ArchiveWriter writer) throws Exception {
    try (writer) {
      BatchWriter[] batches = {
        batch(1, 1, "a", "copy").event(WORK, 90 * MS, 1),
        batch(1, 2, "a", "copy").context("session", OUTER)
            .event(START, 100 * MS, bytes(OUTER), new byte[0], "outer", "").event(WORK, 150 * MS, 1),
        batch(2, 1, "b", "part").context("session", INNER).context("parent", OUTER)
            .event(CPU, 205 * MS, 1).event(START, 210 * MS, bytes(INNER), bytes(OUTER), "inner", "")
            .event(WORK, 220 * MS, 1),
        batch(1, 3, "a", "program").context("session", OUTER).event(END, 300 * MS, bytes(OUTER), true),
        batch(1, 4, "a", "copy").event(WORK, 310 * MS, 1),
        batch(3, 1, "a", "probe").event(CPU, 50 * MS, 1).event(CPU, 200 * MS, 1).event(CPU, 400 * MS, 1),
        batch(4, 1, "b", "probe").event(CPU, 50 * MS, 1).event(TCP, 240 * MS, bytes(INNER), 5)
            .event(TCP, 245 * MS, new byte[0], 5).event(CPU, 290 * MS, 1),
        batch(5, 1, "host", "program").context("session", "copy 42").event(WORK, 5 * MS, 1),
      };
      for (int i = 0; i < batches.length; i++) {
        writer.append(Archives.at(i), batches[i].toByteArray());
      }
    }
  }
}
