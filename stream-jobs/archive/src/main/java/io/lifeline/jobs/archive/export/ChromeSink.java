package io.lifeline.jobs.archive.export;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Chrome's trace event format in its JSON object form. A lane is a thread of its own, because the slices of a thread
 * must nest. Times are microseconds with three decimals since the first event: a double, as viewers use it, would lose
 * the nanoseconds of a time since 1970.
 */
final class ChromeSink implements TimelineSink {
  /** Larger integers are not exact in JavaScript. */
  private static final long MAX_EXACT = 1L << 53;

  /** Flows that are remembered as begun; one that is forgotten begins again. */
  private static final int MAX_FLOWS = 1 << 20;

  private final OutputStream out;
  private final TraceClock clock;
  private final StringBuilder text = new StringBuilder();
  private final TimeText iso = TimeText.iso();
  private final Set<Long> begunFlows = Collections.newSetFromMap(new LinkedHashMap<>() {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
      return size() > MAX_FLOWS;
    }
  });
  private boolean isAfterRecord;

  ChromeSink(OutputStream out, TraceClock clock) {
    this.out = out;
    this.clock = clock;
    text.append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }

  @Override
  public void declare(Track track) throws IOException {
    String what = switch (track.kind()) {
      case PROCESS -> "process_name";
      case THREAD, LANE -> "thread_name";
      case COUNTER -> null; // named in each of its events
    };
    if (what != null) {
      begin("M").append(",\"name\":\"").append(what).append('"');
      place(track);
      text.append(",\"args\":{\"name\":");
      JsonText.append(text,
          track.kind() == Track.Kind.LANE ? track.parent().name() + " " + track.name() : track.name());
      text.append('}');
      end();
    }
  }

  @Override
  public void begin(Track lane, ArchivedEvent start, long flow) throws IOException {
    begin("B");
    what(start.type().operation(), start.type().level());
    place(lane);
    time();
    arguments(start, -1);
    end();
    if (flow != 0) {
      begin(begunFlows.add(flow) ? "s" : "t");
      what("id", "lifeline");
      place(lane);
      time();
      text.append(",\"id\":\"0x").append(Long.toHexString(flow)).append('"');
      end();
    }
  }

  @Override
  public void end(Track lane, ArchivedEvent end) throws IOException {
    begin("E");
    place(lane);
    time();
    if (end == null) {
      text.append(",\"args\":{\"end not found\":true}");
    } else {
      arguments(end, end.type().idMember());
    }
    end();
  }

  /** The format connects only slices, so that the flow is left out. */
  @Override
  public void instant(Track track, ArchivedEvent event, long flow) throws IOException {
    begin("i").append(",\"s\":\"t\"");
    what(event.type().name(), event.type().level());
    place(track);
    time();
    arguments(event, -1);
    end();
  }

  @Override
  public void count(Track counter, ArchivedEvent event, int member) throws IOException {
    begin("C");
    what(counter.name(), event.type().level());
    place(counter);
    time();
    text.append(",\"args\":{\"value\":");
    JsonText.appendNumber(text, event.type().members().get(member).type(), event.values()[member]);
    text.append('}');
    end();
  }

  @Override
  public void finish() throws IOException {
    text.append("\n],\"otherData\":{\"first_event\":\"");
    iso.append(text, clock.firstNs(), 9);
    text.append("Z\",\"first_event_ns\":\"").append(clock.firstNs()).append("\"}}\n");
    flush();
  }

  private StringBuilder begin(String phase) {
    text.append(isAfterRecord ? ",\n" : "\n").append("{\"ph\":\"").append(phase).append('"');
    isAfterRecord = true;
    return text;
  }

  private void end() throws IOException {
    text.append('}');
    flush();
  }

  private void flush() throws IOException {
    out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    text.setLength(0);
  }

  private void what(String name, String category) {
    text.append(",\"name\":");
    JsonText.append(text, name);
    text.append(",\"cat\":\"").append(category).append('"');
  }

  private void place(Track track) {
    text.append(",\"pid\":").append(track.pid());
    if (track.tid() > 0) {
      text.append(",\"tid\":").append(track.tid());
    }
  }

  private void time() {
    String ns = Long.toString(clock.nowNs());
    String padded = "0".repeat(Math.max(0, 4 - ns.length())) + ns;
    int whole = padded.length() - 3;
    text.append(",\"ts\":").append(padded, 0, whole).append('.').append(padded, whole, padded.length());
  }

  private void arguments(ArchivedEvent event, int without) {
    List<ArchivedType.Member> members = event.type().members();
    String before = ",\"args\":{";
    for (int i = 0; i < members.size(); i++) {
      Object value = event.values()[i];
      if (i == without || value == null) {
        continue;
      }
      text.append(before);
      before = ",";
      JsonText.append(text, members.get(i).name());
      text.append(':');
      FieldType type = members.get(i).type();
      if (value instanceof Long number && (number > MAX_EXACT || number < -MAX_EXACT || number < 0
          && type == FieldType.U64)) {
        text.append('"');
        JsonText.appendNumber(text, type, value);
        text.append('"');
      } else {
        JsonText.append(text, type, value);
      }
    }
    text.append(before.equals(",") ? "}" : "");
  }
}
