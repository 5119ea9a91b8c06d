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
  private static final List<String> NAMES = List.of("incarnation", "route", "route_name", "host", "program", "pid",
      "runs", "batches", "events", "last_sequence", "counters", "final_batch", "recovered", "last_broker_time_ms");
  private static final int PROPERTIES = NAMES.size();

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
      int property = property(name, in);
      if (property >= 0) {
        if ((known & 1 << property) != 0) {
          throw new JsonParseException(in, "a route has two properties " + name);
        }
        known |= 1 << property;
      }
    }
    if (known != (1 << PROPERTIES) - 1) {
      throw new JsonParseException(in, "a route has " + Integer.bitCount(known) + " properties and not " + PROPERTIES);
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

  /** Returns the number of a property among those of a route; -1 if it is none of them. */
  private int property(String name, JsonParser in) throws IOException {
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
      default -> in.skipChildren();
    }
    return NAMES.indexOf(name);
  }

  private static List<List<String>> runs(JsonParser in) throws IOException {
    List<List<String>> runs = new ArrayList<>(1);
    while (in.nextToken() == JsonToken.START_ARRAY) {
      runs.add(texts(in, 2));
    }
    requireEnd(in);
    return runs;
  }

  private static List<String> texts(JsonParser in, int expected) throws IOException {
    List<String> texts = new ArrayList<>(expected);
    while (in.nextToken() == JsonToken.VALUE_STRING) {
      texts.add(in.getText());
    }
    requireEnd(in);
    if (texts.size() != expected) {
      throw new JsonParseException(in, texts.size() + " numbers instead of " + expected);
    }
    return texts;
  }

  /** Checks that the element at which a loop over an array ended is its end: what follows would be ignored. */
  static void requireEnd(JsonParser in) throws IOException {
    if (in.currentToken() != JsonToken.END_ARRAY) {
      throw new JsonParseException(in, "an array with an unexpected element: " + in.currentToken());
    }
  }
}
