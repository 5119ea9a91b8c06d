package io.lifeline.jobs.archive.export;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.jobs.archive.ArchivedEvent;
import java.util.ArrayList;
import java.util.List;

/** The samples {@code tcp.info} of one connection, whose counters are cumulative. */
final class PerfsonarConnection {
  /** Of more, each second one is left out; counters lose nothing by that. */
  static final int MOST_SAMPLES = 512;

  private record Sample(long ns, double acked, double received, long rttUs, long retransmits, long segments) {}

  private final ArchivedEvent first;
  private final String local;
  private final String remote;
  private final String congestion;
  private List<Sample> samples = new ArrayList<>();
  private Sample last;
  private int stride = 1;
  private long seen;
  private long rttCount;
  private double rttSum;
  private double rttSquares;
  private long rttLeast = Long.MAX_VALUE;
  private long rttMost;
  private int segmentBytes;

  PerfsonarConnection(ArchivedEvent first) {
    this.first = first;
    this.local = EventValues.text(first, "local");
    this.remote = EventValues.text(first, "remote");
    this.congestion = EventValues.text(first, "congestion");
  }

  /** @param most how many samples are kept */
  void add(ArchivedEvent event, int most) {
    last = new Sample(event.timeNs(), EventValues.real(event, "acked"), EventValues.real(event, "received"),
        EventValues.integer(event, "rtt"), EventValues.integer(event, "retransmits"),
        EventValues.integer(event, "window"));
    segmentBytes = (int) EventValues.integer(event, "segment");
    if (last.rttUs > 0) {
      rttCount++;
      rttSum += last.rttUs;
      rttSquares += (double) last.rttUs * last.rttUs;
      rttLeast = Math.min(rttLeast, last.rttUs);
      rttMost = Math.max(rttMost, last.rttUs);
    }
    if (seen++ % stride == 0) {
      samples.add(last);
    }
    while (samples.size() > most) {
      List<Sample> kept = new ArrayList<>();
      for (int i = 0; i < samples.size(); i += 2) {
        kept.add(samples.get(i));
      }
      samples = kept;
      stride *= 2;
    }
  }

  private boolean isSender() {
    Sample begin = samples.get(0);
    return last.acked - begin.acked >= last.received - begin.received;
  }

  private static double bytes(Sample from, Sample to, boolean sender) {
    return Math.max(0, sender ? to.acked - from.acked : to.received - from.received);
  }

  private PerfsonarRecord record(String test, boolean forward, String session) {
    String here = PerfsonarRecord.host(local, first.host());
    String there = PerfsonarRecord.host(remote, "unknown");
    PerfsonarRecord record = new PerfsonarRecord(test, PerfsonarRecord.identity(first, first.id(), session),
        forward ? here : there, forward ? there : here, samples.get(0).ns, last.ns).of(first, session);
    record.reference.put("local", local).put("remote", remote).put("samples", seen);
    return record;
  }

  /** Returns the rate of the direction in which more was sent; null without two samples. */
  ObjectNode throughput(String session) {
    if (last.ns <= samples.get(0).ns) {
      return null;
    }
    if (samples.get(samples.size() - 1) != last) {
      samples.add(last);
    }
    boolean sender = isSender();
    PerfsonarRecord record = record("throughput", sender, session);
    record.spec.put("duration", record.json.path("schedule").path("duration").asText());
    if (!congestion.isEmpty()) {
      record.reference.put("congestion", congestion);
    }
    record.result.put("schema", 1).put("succeeded", true).put("diags", "");
    if (segmentBytes > 0) {
      record.result.put("mss", segmentBytes);
    }
    ArrayNode intervals = record.result.putArray("intervals");
    for (int i = 1; i < samples.size(); i++) {
      Sample from = samples.get(i - 1);
      Sample to = samples.get(i);
      if (to.ns > from.ns) {
        ObjectNode interval = intervals.addObject();
        interval.putArray("streams").add(part(record, from, to, sender));
        interval.set("summary", part(record, from, to, sender));
      }
    }
    ObjectNode summary = record.result.putObject("summary");
    ObjectNode all = part(record, samples.get(0), last, sender);
    summary.putArray("streams").add(all);
    summary.set("summary", all.deepCopy());
    return record.json;
  }

  private ObjectNode part(PerfsonarRecord record, Sample from, Sample to, boolean sender) {
    ObjectNode part = record.json.objectNode();
    record.rate(part, bytes(from, to, sender), from.ns, to.ns).put("stream-id", 1)
        .put("retransmits", Math.max(0, to.retransmits - from.retransmits)).put("rtt", to.rttUs);
    if (segmentBytes > 0) {
      part.put("tcp-window-size", to.segments * segmentBytes);
    }
    return part;
  }

  /** Returns the round-trip times that the kernel measured; null without any. */
  ObjectNode rtt(String session) {
    List<Sample> measured = samples.stream().filter(sample -> sample.rttUs > 0).toList();
    if (measured.isEmpty()) {
      return null;
    }
    PerfsonarRecord record = record("rtt", true, session);
    record.spec.put("count", measured.size());
    ArrayNode trips = record.result.put("schema", 1).put("succeeded", true).put("diags", "").putArray("roundtrips");
    for (int i = 0; i < measured.size(); i++) {
      trips.addObject().put("seq", i + 1).put("rtt", PerfsonarRecord.duration(1e3 * measured.get(i).rttUs));
    }
    double mean = rttSum / rttCount;
    record.result.put("loss", 0).put("min", PerfsonarRecord.duration(1e3 * rttLeast))
        .put("max", PerfsonarRecord.duration(1e3 * rttMost)).put("mean", PerfsonarRecord.duration(1e3 * mean))
        .put("stddev", PerfsonarRecord.duration(1e3 * Math.sqrt(Math.max(0, rttSquares / rttCount - mean * mean))));
    record.reference.put("what", "smoothed round-trip times of a TCP connection; loss is that of the samples");
    return record.json;
  }
}
