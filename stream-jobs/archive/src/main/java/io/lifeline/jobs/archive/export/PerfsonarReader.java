package io.lifeline.jobs.archive.export;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes a batch of one of perfSONAR's archive records. Its incarnation follows from the record's id, so a record that
 * is imported twice is a duplicate, which every reader absorbs.
 */
public final class PerfsonarReader {
  /** Tests whose results become events. */
  public static final Set<String> TESTS = Set.of("throughput", "rtt");

  private static final int MOST_EVENTS = 10_000;
  private static final int LONGEST_TEXT = 1_000;
  private static final int ID_BYTES = 16;

  /** Records have 48 bits of ticks: longer measurements count in microseconds. */
  private static final long LONG_NS = Duration.ofDays(1).toNanos();
  private static final long LONGEST_NS = Duration.ofDays(1_000).toNanos();
  private static final long COARSE_NS = 1_000;
  private static final Pattern WEEKS = Pattern.compile("P(\\d+(?:\\.\\d+)?)W");
  private static final Pattern SESSION = Pattern.compile("[0-9a-f]{32}");
  private static final BigInteger U64 = BigInteger.ONE.shiftLeft(64);

  private static final EventType TRANSFER_START = EventType.named("transfer.start").field("id", FieldType.U64)
      .field("source", FieldType.STRING).field("destination", FieldType.STRING).field("nbytes", FieldType.U64, "B")
      .build();
  private static final EventType TRANSFER_END = EventType.named("transfer.end").field("id", FieldType.U64)
      .field("nbytes", FieldType.U64, "B").field("ok", FieldType.BOOL).build();
  private static final EventType INTERVAL = EventType.named("perfsonar.throughput").field("id", FieldType.U64)
      .field("stream", FieldType.STRING).field("duration", FieldType.U64, "ns").field("rate", FieldType.F64, "b/s")
      .field("retransmits", FieldType.I64).field("rtt", FieldType.F64, "us").build();
  private static final EventType TRIP = EventType.named("perfsonar.rtt").field("id", FieldType.U64)
      .field("destination", FieldType.STRING).field("rtt", FieldType.U64, "ns").field("lost", FieldType.BOOL).build();

  private PerfsonarReader() {}

  /** A record that cannot be imported; the message says why. */
  public static final class InvalidRecordException extends Exception {
    private static final long serialVersionUID = 1;

    InvalidRecordException(String message) {
      super(message);
    }
  }

  /**
   * Returns the batch.
   *
   * @param json the record, or what pScheduler passes to an archiver, which has the record in {@code result}
   */
  public static byte[] batch(JsonNode json) throws InvalidRecordException {
    JsonNode record = json.path("test").isObject() ? json : json.path("result");
    String test = record.path("test").path("type").asText();
    if (!record.path("test").isObject() || !record.path("result").isObject()) {
      throw new InvalidRecordException("it has no test and result");
    }
    if (!TESTS.contains(test)) {
      throw new InvalidRecordException("its test is " + cut(test) + ", and only throughput and rtt are known");
    }
    long startNs = time(record.path("schedule").path("start").asText());
    long durationNs = duration(record.path("schedule").path("duration").asText());
    if (durationNs < 0 || durationNs > LONGEST_NS) {
      throw new InvalidRecordException("schedule.duration is not from 0 to 1000 days");
    }
    Writer writer = new Writer(record, startNs, durationNs > LONG_NS ? COARSE_NS : 1);
    if (test.equals("throughput")) {
      writer.throughput(durationNs);
    } else {
      writer.roundTrips(durationNs);
    }
    return writer.batch.counter(Counter.EMITTED, writer.count).flags(1).toByteArray();
  }

  private static String cut(String text) {
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT);
  }

  private static long time(String text) throws InvalidRecordException {
    try {
      OffsetDateTime time = OffsetDateTime.parse(text);
      return Math.addExact(Math.multiplyExact(time.toEpochSecond(), 1_000_000_000L), time.getNano());
    } catch (DateTimeException | ArithmeticException e) {
      throw new InvalidRecordException("schedule.start is no time with a zone: " + cut(text));
    }
  }

  private static long duration(String text) throws InvalidRecordException {
    try {
      Matcher weeks = WEEKS.matcher(text);
      return weeks.matches()
          ? new BigDecimal(weeks.group(1)).multiply(BigDecimal.valueOf(Duration.ofDays(7).toNanos())).longValueExact()
          : Duration.parse(text).toNanos();
    } catch (DateTimeException | ArithmeticException e) {
      throw new InvalidRecordException("no ISO 8601 duration: " + cut(text));
    }
  }

  /** The batch of one record. Ticks are nanoseconds from the start of the measurement. */
  private static final class Writer {
    final BatchWriter batch = new BatchWriter();
    private final JsonNode record;
    private final JsonNode own;
    private final String source;
    private final String destination;
    private final long unitNs;
    private long count;

    Writer(JsonNode record, long startNs, long unitNs) {
      this.record = record;
      this.unitNs = unitNs;
      this.own = record.path("reference").path(PerfsonarRecord.TOOL);
      JsonNode spec = record.path("test").path("spec");
      this.destination = cut(spec.path("dest").asText());
      this.source = cut(spec.path("source").asText(record.path("participants").path(0).asText()));
      UUID id = id(record);
      batch.incarnation(new Incarnation(id.getMostSignificantBits(), id.getLeastSignificantBits()))
          .host(cut(own.path("host").asText(source))).program(cut(own.path("program").asText(
              record.path("tool").path("name").asText("perfsonar"))))
          .pid(own.path("pid").asLong(0) & 0xffffffffL).ticks(0, 1_000_000_000L / unitNs, true)
          .calibration(0, 0, startNs, 0, false);
      String session = own.path("session").asText();
      batch.context("session", SESSION.matcher(session).matches() ? session : hex(id));
      batch.context("resource.perfsonar.tool", cut(record.path("tool").path("name").asText("unknown")));
    }

    /** Of a record without one, from its content. */
    private static UUID id(JsonNode record) {
      String text = record.path("id").asText();
      try {
        UUID id = UUID.fromString(text);
        if (id.getMostSignificantBits() != 0 || id.getLeastSignificantBits() != 0) {
          return id;
        }
      } catch (IllegalArgumentException e) {
        // from its content
      }
      return UUID.nameUUIDFromBytes(record.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static String hex(UUID id) {
      StringBuilder text = new StringBuilder();
      for (byte b : ByteBuffer.allocate(ID_BYTES).putLong(id.getMostSignificantBits())
          .putLong(id.getLeastSignificantBits()).array()) {
        text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
      }
      return text.toString();
    }

    private void event(EventType type, long ns, Object... values) throws InvalidRecordException {
      if (++count > MOST_EVENTS) {
        throw new InvalidRecordException("it has more than " + MOST_EVENTS + " intervals or round trips");
      }
      batch.event(type, ns / unitNs, values);
    }

    private static long unsigned(JsonNode text, double otherwise) {
      try {
        BigInteger value = text.isTextual() ? new BigInteger(cut(text.asText())) : BigDecimal.valueOf(otherwise)
            .toBigInteger();
        return value.signum() < 0 || value.compareTo(U64) >= 0 ? 0 : value.longValue();
      } catch (NumberFormatException e) {
        return 0;
      }
    }

    void throughput(long durationNs) throws InvalidRecordException {
      JsonNode result = record.path("result");
      JsonNode all = result.path("summary").path("summary");
      long id = unsigned(own.path("id"), 1);
      double bytes = all.path("throughput-bits").asDouble() / 8 * (all.path("end").asDouble() - all.path("start")
          .asDouble());
      event(TRANSFER_START, 0, id, cut(own.path("source").asText(source)),
          cut(own.path("destination").asText(destination)), unsigned(own.path("expected"), 0));
      for (JsonNode interval : result.path("intervals")) {
        JsonNode streams = interval.path("streams");
        for (JsonNode stream : streams.isEmpty() ? List.of(interval.path("summary")) : streams) {
          interval(id, stream);
        }
      }
      event(TRANSFER_END, durationNs, id, unsigned(own.path("nbytes"), Double.isFinite(bytes) ? bytes : 0),
          result.path("succeeded").asBoolean());
    }

    private void interval(long id, JsonNode stream) throws InvalidRecordException {
      double startS = stream.path("start").asDouble();
      double endS = stream.path("end").asDouble();
      long endNs = Math.min(nanoseconds(endS), unitNs == 1 ? LONG_NS : LONGEST_NS);
      event(INTERVAL, endNs, id, cut(stream.path("stream-id").asText()), Math.max(0, endNs - nanoseconds(startS)),
          stream.path("throughput-bits").asDouble(), stream.path("retransmits").asLong(-1),
          stream.path("rtt").asDouble(-1));
    }

    private static long nanoseconds(double seconds) {
      return Math.min(LONGEST_NS, Math.max(0, Math.round(seconds * 1e9)));
    }

    /** Trips have no times of their own: they are spread over the measurement. */
    void roundTrips(long durationNs) throws InvalidRecordException {
      JsonNode trips = record.path("result").path("roundtrips");
      for (int i = 0; i < trips.size(); i++) {
        JsonNode trip = trips.get(i);
        boolean lost = !trip.hasNonNull("rtt");
        event(TRIP, trips.size() == 1 ? 0 : (long) ((double) durationNs * i / (trips.size() - 1)),
            trip.path("seq").asLong(i + 1), cut(trip.path("ip").asText(destination)),
            lost ? 0 : Math.max(0, duration(trip.path("rtt").asText())), lost);
      }
    }
  }
}
