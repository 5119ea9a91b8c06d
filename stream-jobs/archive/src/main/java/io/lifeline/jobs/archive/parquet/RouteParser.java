package io.lifeline.jobs.archive.parquet;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.lifeline.codec.Counter;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.RouteEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Reads the entry of a route by hand: there may be millions, and a mapper takes several times as long. */
final class RouteParser {
  private static final int PROPERTIES = RouteEntry.class.getRecordComponents().length;

  private String incarnation;
  private int route;
  private String routeName;
  private String host;
  private String program;
  private long pid;
  private List<List<String>> runs;
  private long batches;
  private long events;
  private String lastSequence;
  private List<String> counters;
  private boolean finalBatch;
  private boolean recovered;
  private long lastBrokerTimeMs;

  private RouteParser() {}

  /** Reads up to the end of the object whose begin was read. */
  static RouteEntry read(JsonParser in) throws IOException {
    return new RouteParser().entry(in);
  }

  private RouteEntry entry(JsonParser in) throws IOException {
    int known = 0;
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      String name = in.currentName();
      in.nextToken();
      known += property(name, in) ? 1 : 0;
    }
    if (known != PROPERTIES) {
      throw new JsonParseException(in, "a route has " + known + " properties and not " + PROPERTIES);
    }
    checkNumbers(in);
    return new RouteEntry(incarnation, route, routeName, host, program, pid, runs, batches, events, lastSequence,
        counters, finalBatch, recovered, lastBrokerTimeMs);
  }

  /** Checks the texts that are parsed later, each time. */
  private void checkNumbers(JsonParser in) throws JsonParseException {
    try {
      Incarnation.parse(incarnation);
      Long.parseUnsignedLong(lastSequence);
      counters.forEach(Long::parseUnsignedLong);
      for (List<String> run : runs) {
        if (Long.compareUnsigned(Long.parseUnsignedLong(run.get(0)), Long.parseUnsignedLong(run.get(1))) > 0) {
          throw new JsonParseException(in, "a run ends before it begins");
        }
      }
    } catch (IllegalArgumentException e) {
      throw new JsonParseException(in, "a route has a number that is none", e);
    }
  }

  /** Returns whether the property is known. */
  private boolean property(String name, JsonParser in) throws IOException {
    switch (name) {
      case "incarnation" -> incarnation = in.getText();
      case "route" -> route = in.getIntValue();
      case "route_name" -> routeName = in.getText();
      case "host" -> host = in.getText();
      case "program" -> program = in.getText();
      case "pid" -> pid = in.getLongValue();
      case "runs" -> runs = runs(in);
      case "batches" -> batches = in.getLongValue();
      case "events" -> events = in.getLongValue();
      case "last_sequence" -> lastSequence = in.getText();
      case "counters" -> counters = texts(in, Counter.values().length);
      case "final_batch" -> finalBatch = in.getBooleanValue();
      case "recovered" -> recovered = in.getBooleanValue();
      case "last_broker_time_ms" -> lastBrokerTimeMs = in.getLongValue();
      default -> {
        in.skipChildren();
        return false;
      }
    }
    return true;
  }

  private static List<List<String>> runs(JsonParser in) throws IOException {
    List<List<String>> runs = new ArrayList<>(1);
    while (in.nextToken() == JsonToken.START_ARRAY) {
      runs.add(texts(in, 2));
    }
    return runs;
  }

  private static List<String> texts(JsonParser in, int expected) throws IOException {
    List<String> texts = new ArrayList<>(expected);
    while (in.nextToken() == JsonToken.VALUE_STRING) {
      texts.add(in.getText());
    }
    if (texts.size() != expected) {
      throw new JsonParseException(in, texts.size() + " numbers instead of " + expected);
    }
    return texts;
  }
}
