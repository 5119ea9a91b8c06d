package io.lifeline.jobs.archive.export;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.jobs.archive.ArchivedEvent;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * One measurement as pScheduler's archivers get it: id, schedule, test, tool, run, task, participants, result and
 * reference. What a pScheduler test has no place for is in {@code reference.lifeline}.
 */
final class PerfsonarRecord {
  static final String TOOL = "lifeline";
  private static final String VERSION = "0.1.0";
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private static final Pattern HOST =
      Pattern.compile("[A-Za-z0-9_][A-Za-z0-9-]{0,62}(\\.[A-Za-z0-9][A-Za-z0-9-]{0,62})*");
  private static final Pattern URL_HOST = Pattern.compile("[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(\\[[^]]*]|[^/:]*).*");
  private static final Pattern HOST_COLON = Pattern.compile("([^/:]{2,}):.*", Pattern.DOTALL);
  private static final Pattern ADDRESS = Pattern.compile("[0-9a-fA-F.:]+");
  private static final int LONGEST_HOST = 255;

  private final long fromNs;
  private final long toNs;
  final ObjectNode json = NODES.objectNode();
  final ObjectNode spec;
  final ObjectNode result;
  final ObjectNode reference;

  /** @param identity of {@link #identity} */
  PerfsonarRecord(String test, String identity, String source, String destination, long fromNs, long toNs) {
    this.fromNs = fromNs;
    this.toNs = toNs;
    json.put("id", UUID.nameUUIDFromBytes((test + " " + identity).getBytes(StandardCharsets.UTF_8)).toString());
    json.putObject("schedule").put("start", time(fromNs)).put("duration", duration(toNs - fromNs));
    ObjectNode testNode = json.putObject("test").put("type", test);
    spec = testNode.putObject("spec").put("schema", 1).put("source", source).put("dest", destination);
    json.putObject("tool").put("name", TOOL).put("version", VERSION);
    json.putObject("run").put("id", json.get("id").asText()).put("start-time", time(fromNs))
        .put("end-time", time(toNs)).put("duration", duration(toNs - fromNs)).put("state", "finished");
    json.putObject("task");
    ArrayNode participants = json.putArray("participants").add(source);
    if (!destination.equals(source)) {
      participants.add(destination);
    }
    result = json.putObject("result");
    reference = json.putObject("reference").putObject(TOOL);
  }

  /**
   * Returns what makes the measurement this one: it has the same id in each export of its session. For another session
   * its content is another one, and an import of both must not be a conflict.
   */
  static String identity(ArchivedEvent first, String object, String session) {
    return first.incarnation() + " " + object + " " + first.timeNs() + (session != null ? " " + session : "");
  }

  /** Adds where the measurement comes from. */
  PerfsonarRecord of(ArchivedEvent event, String session) {
    if (session != null) {
      reference.put("session", session);
    }
    reference.put("host", event.host()).put("program", event.program()).put("pid", event.pid())
        .put("incarnation", event.incarnation()).put("thread", Long.toUnsignedString(event.thread()));
    return this;
  }

  /** Fills in a rate over the whole span, or over the part of it that is given. */
  ObjectNode rate(ObjectNode to, double bytes, long partFromNs, long partToNs) {
    double seconds = (partToNs - partFromNs) / 1e9;
    double bytesPerSecond = seconds > 0 ? bytes / seconds : 0;
    return to.put("start", (partFromNs - fromNs) / 1e9).put("end", (partToNs - fromNs) / 1e9)
        .put("throughput-bits", 8 * bytesPerSecond).put("throughput-bytes", bytesPerSecond);
  }

  ObjectNode rate(ObjectNode to, double bytes) {
    return rate(to, bytes, fromNs, toNs);
  }

  /** Returns the time as ISO 8601 in UTC, to the nanosecond. */
  static String time(long ns) {
    StringBuilder text = new StringBuilder();
    TimeText.iso().append(text, ns, 9);
    return text.append('Z').toString();
  }

  /** Returns the duration as ISO 8601, in seconds. */
  static String duration(double ns) {
    return "PT" + BigDecimal.valueOf(Math.round(Math.max(0, ns)), 9).stripTrailingZeros().toPlainString() + "S";
  }

  /**
   * Returns the host of a place as a program names it: {@code host:path}, a URL, {@code address:port} or
   * {@code [address]:port}.
   *
   * @param otherwise for a path, or what is no host name
   */
  static String host(String place, String otherwise) {
    var url = URL_HOST.matcher(place);
    var colon = HOST_COLON.matcher(place);
    String host = url.matches() ? url.group(1) : place.startsWith("[") && place.indexOf(']') > 0
        ? place.substring(0, place.indexOf(']') + 1) : colon.matches() ? colon.group(1) : null;
    if (host != null && host.startsWith("[")) {
      host = host.substring(1, host.length() - 1);
      return ADDRESS.matcher(host).matches() ? host : valid(otherwise);
    }
    return host != null && isHost(host) ? host : valid(otherwise);
  }

  private static boolean isHost(String host) {
    return host.length() <= LONGEST_HOST && HOST.matcher(host).matches();
  }

  private static String valid(String host) {
    return isHost(host) ? host : "unknown";
  }
}
