package io.lifeline.jobs.archive.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.core.Glob;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Decodes traces with protobuf's own reader, by the published schema. */
class PerfettoTest {
  private static final int BEGIN = 1;
  private static final int END = 2;
  private static final int INSTANT = 3;
  private static final int COUNTER = 4;

  @TempDir Path directory;

  private Exports exports;

  @BeforeEach
  void directory() {
    exports = new Exports(directory);
  }

  /** A trace as a viewer has it. */
  private static final class Trace {
    final TraceLines lines = new TraceLines();
    final Map<Long, List<String>> flows = new HashMap<>();
    final Map<Long, String> paths = new HashMap<>();
    final Map<Long, Message> tracks = new HashMap<>();
    final Map<String, Map<Long, String>> names = new HashMap<>();
    final Set<Object> pids = new HashSet<>();
    final Set<Object> tids = new HashSet<>();
    final List<String> clocks = new ArrayList<>();

    void read(Message packet) {
      Message data = message(packet, "interned_data");
      if (data != null) {
        data.getAllFields().forEach((field, entries) -> ((List<?>) entries).forEach(entry ->
            names.computeIfAbsent(field.getName(), key -> new HashMap<>())
                .put((Long) value((Message) entry, "iid"), (String) value((Message) entry, "name"))));
      }
      Message snapshot = message(packet, "clock_snapshot");
      if (snapshot != null) {
        list(snapshot, "clocks").forEach(clock ->
            clocks.add(value(clock, "clock_id") + "=" + value(clock, "timestamp")));
      }
      Message track = message(packet, "track_descriptor");
      if (track != null) {
        declare(track);
      }
      Message event = message(packet, "track_event");
      if (event != null) {
        event(event, (Long) value(packet, "timestamp"));
      }
    }

    private void declare(Message track) {
      Long uuid = (Long) value(track, "uuid");
      assertThat(tracks.put(uuid, track)).as("a track is described once").isNull();
      Object parent = value(track, "parent_uuid");
      Message process = message(track, "process");
      Message thread = message(track, "thread");
      if (process != null) {
        assertThat(pids.add(value(process, "pid"))).as("a pid names one process").isTrue();
        paths.put(uuid, (String) value(process, "process_name"));
      } else if (thread != null) {
        assertThat(pids).contains(value(thread, "pid"));
        assertThat(tids.add(value(thread, "tid"))).as("a tid names one thread").isTrue();
        paths.put(uuid, paths.get(parent) + "/" + value(thread, "thread_name"));
      } else {
        boolean counter = message(track, "counter") != null;
        paths.put(uuid, paths.get(parent) + (counter ? "/" : " ") + value(track, "name"));
      }
      assertThat(parent == null || tracks.containsKey(parent)).as("a parent is described before").isTrue();
    }

    private void event(Message event, long time) {
      Long track = (Long) value(event, "track_uuid");
      String path = paths.get(track);
      assertThat(path).isNotNull();
      String name = text(event, "event_names");
      String arguments = arguments(event);
      for (Object flow : (List<?>) event.getField(event.getDescriptorForType().findFieldByName("flow_ids"))) {
        flows.computeIfAbsent((Long) flow, key -> new ArrayList<>()).add(name + "@" + time);
      }
      switch (((Number) value(event, "type")).intValue()) {
        case BEGIN -> lines.begin(track, path, name, time, arguments);
        case END -> lines.end(track, time, arguments);
        case INSTANT -> lines.instant(path, name, time, arguments);
        case COUNTER -> lines.counter(path, time,
            String.valueOf(value(event, "counter_value") != null ? value(event, "counter_value")
                : value(event, "double_counter_value")));
        default -> throw new AssertionError(event);
      }
    }

    private String text(Message named, String kind) {
      Long iid = (Long) value(named, "name_iid");
      return iid == null ? (String) value(named, "name") : names.get(kind).get(iid);
    }

    private String arguments(Message event) {
      StringBuilder text = new StringBuilder();
      for (Message annotation : list(event, "debug_annotations")) {
        text.append(' ').append(text(annotation, "debug_annotation_names")).append('=');
        annotation.getAllFields().forEach((field, value) ->
            text.append(field.getName().endsWith("_value")
                ? field.getName().equals("uint_value") ? Long.toUnsignedString((Long) value) : value : ""));
      }
      return text.toString();
    }

    private static Object value(Message message, String name) {
      FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
      return message.hasField(field) ? message.getField(field) : null;
    }

    private static Message message(Message message, String name) {
      return (Message) value(message, name);
    }

    @SuppressWarnings("unchecked")
    private static List<Message> list(Message message, String name) {
      return (List<Message>) message.getField(message.getDescriptorForType().findFieldByName(name));
    }
  }

  private Trace trace() throws Exception {
    byte[] bytes = Files.readAllBytes(exports.file("trace.pftrace"));
    DynamicMessage message = DynamicMessage.parseFrom(PerfettoSchema.trace(), bytes);
    Trace trace = new Trace();
    for (Message packet : Trace.list(message, "packet")) {
      assertKnown(packet);
      trace.read(packet);
    }
    return trace;
  }

  private static void assertKnown(Message message) {
    assertThat(message.getUnknownFields().asMap()).isEmpty();
    message.getAllFields().values().forEach(value -> (value instanceof List<?> list ? list : List.of(value))
        .forEach(each -> {
          if (each instanceof Message inner) {
            assertKnown(inner);
          }
        }));
  }

  @Test
  void everyEventHasItsPlaceAndLifelinesCrossProcesses() throws Exception {
    exports.archive(Scenario.batches(), 10_000);
    Counts counts = exports.write(ExportFormat.PERFETTO, "trace.pftrace");
    Trace trace = trace();
    assertThat(trace.lines.finish()).containsExactlyInAnyOrderElementsOf(Scenario.TRACE);
    assertThat(counts).hasToString("events=21 pairs=6 ends_without_start=2 reversed=1 open=1");
    assertThat(trace.flows.values()).contains(
        List.of("disk.read@0", "net.receive@105"), List.of("disk.read@50", "net.receive@155"));
    assertThat(trace.clocks).containsExactly("6=0", "1=1790000000000000100");
  }

  @Test
  void hostileEventsAreAllThere() throws Exception {
    List<byte[]> batches = Exports.hostile();
    exports.archive(batches, 10_000);
    exports.write(ExportFormat.PERFETTO, "trace.pftrace");
    List<String> lines = trace().lines.finish();
    assertThat(lines.stream().filter(line -> line.startsWith("instant"))).hasSize(Events.of(batches).size());
  }

  @Test
  void operationsBeyondTheLimitEndAndTracksBeyondTheLimitAreCounted() throws Exception {
    EventType start = EventType.named("x.start").field("id", FieldType.U64).build();
    EventType end = EventType.named("x.end").field("id", FieldType.U64).build();
    var batch = Archives.batch(new Incarnation(1, 1), 1).thread(1);
    for (int i = 0; i < 10; i++) {
      batch.event(start, 10 * i, i);
    }
    batch.event(end, 100, 9).thread(2).event(end, 110, 1);
    exports.archive(batch.toByteArray());
    Counts counts = exports.withMaxOpen(3).withMaxTracks(7).write(ExportFormat.PERFETTO, "trace.pftrace");
    List<String> lines = trace().lines.finish();
    assertThat(counts).hasToString("events=12 given_up=7 pairs=1 ends_without_start=1 open=2");
    assertThat(lines).contains("slice program (host, pid 42)/thread 1 x: x 0+30 id=0 end not found=true",
        "slice program (host, pid 42)/thread 1 x: x 90+10 id=9", "open program (host, pid 42)/thread 1 x: x 80 id=8")
        .hasSize(11);
    counts = exports.withMaxTracks(2).write(ExportFormat.PERFETTO, "trace.pftrace");
    assertThat(counts).hasToString("events=12 ends_without_start=2 beyond_max_tracks=1");
  }

  @Test
  void aMainThreadKeepsTheNumberOfItsProcess() throws Exception {
    EventType note = EventType.named("note").build();
    exports.archive(
        Archives.batch(new Incarnation(1, 1), 1).pid(42).thread(42).event(note, 1).thread(43).event(note, 2)
            .toByteArray(),
        Archives.batch(new Incarnation(1, 2), 1).pid(43).thread(42).event(note, 3).toByteArray());
    exports.write(ExportFormat.PERFETTO, "trace.pftrace");
    Trace trace = trace();
    assertThat(trace.pids).contains(42).hasSize(2);
    assertThat(trace.tids).contains(42L, 43L).hasSize(3);
  }

  @Test
  void anEndOfAnotherThreadEndsTheOperationAndAnEmptyTraceIsOne() throws Exception {
    EventType start = EventType.named("x.start").field("id", FieldType.STRING).build();
    EventType end = EventType.named("x.end").field("id", FieldType.STRING).build();
    exports.archive(Archives.batch(new Incarnation(1, 1), 1)
        .thread(1).event(start, 10, "k".repeat(30_000)).thread(2).event(end, 30, "k".repeat(30_000)).toByteArray());
    assertThat(exports.write(ExportFormat.PERFETTO, "trace.pftrace").get("pairs")).isEqualTo(1);
    assertThat(trace().lines.finish()).hasSize(1).allMatch(line -> line.contains("thread 1 x: x 0+20 id=kkk"));
    exports.write(ExportFormat.PERFETTO, "trace.pftrace", new EventSelection(
        List.of(Glob.of("nothing")), null, null, null, null, null));
    assertThat(Files.size(exports.file("trace.pftrace"))).isZero();
  }
}
