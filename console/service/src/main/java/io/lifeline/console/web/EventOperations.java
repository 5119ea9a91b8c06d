package io.lifeline.console.web;

import io.lifeline.console.access.Shares;
import io.lifeline.console.events.EventFilter;
import io.lifeline.console.events.EventId;
import io.lifeline.console.events.EventLog;
import io.lifeline.console.events.EventQueue;
import io.lifeline.console.events.Start;
import io.lifeline.console.events.Subscription;
import io.lifeline.console.events.TimeText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Events as they arrive at the broker, one server-sent event {@code event} per event of Lifeline, in the JSON of the
 * job decode. A client that reads more slowly than events arrive gets an event {@code skipped} with the number of those
 * left out; one that resumes at an event, or asks for a history, that is no longer in memory gets an event {@code gap}.
 */
public final class EventOperations implements Operations {
  private static final int MOST_CLIENTS = 50;
  private static final int MOST_PER_CALLER = 10;
  private static final int QUEUE_BYTES = 512 << 10;
  private static final int SEND_BYTES = 64 << 10;
  private static final long PACE_MS = 500;
  /** Each so many paces without an event, a comment shows that the connection still works. */
  private static final int PACES_OF_SILENCE = 20;

  private static final Parameter<String> TYPE = Parameter.text("type", "event types, * matches any text");
  private static final Parameter<String> WHERE =
      Parameter.text("where", "condition in CEL, as in the job filter: nbytes > 1000000");
  private static final Parameter<Duration> HISTORY = Parameter.matching("history",
      "begin with what the broker has stored for so long: 30s, 10m, 1h", TimeText.PATTERN, TimeText::parse);
  private static final Parameter<EventId> AFTER = Parameter.matching("Last-Event-ID",
      "resume behind the event with this id; a browser sends it when it connects again", EventId.PATTERN,
      EventId::parse).ofHeader();

  private final EventLog log;
  private final boolean hasBroker;
  private final Shares places = new Shares(MOST_CLIENTS, MOST_PER_CALLER);

  public EventOperations(EventLog log, boolean hasBroker) {
    this.log = log;
    this.hasBroker = hasBroker;
  }

  @Override
  public List<Operation> all() {
    return List.of(Operation.stream("/events", "Subscribe to events as they arrive at the broker: event with an id,"
        + " skipped with the number of those left out, gap if the beginning is not in memory", this::subscribe, TYPE,
        Parameters.PROGRAM, Parameters.HOST, WHERE, HISTORY, AFTER));
  }

  /** Returns how many clients are served. */
  public int clients() {
    return places.taken();
  }

  private EventStream subscribe(Call call) {
    requireBroker(hasBroker);
    EventFilter filter = filter(call.get(TYPE), call.get(Parameters.PROGRAM), call.get(Parameters.HOST),
        call.get(WHERE));
    EventQueue queue = new EventQueue(QUEUE_BYTES);
    Start start = new Start(call.get(AFTER), call.get(HISTORY));
    checkStart(start);
    return new EventStream(places, client -> {
      try (Subscription subscription = Subscription.start(log, filter, start, queue)) {
        follow(client, queue);
      }
    });
  }

  private void checkStart(Start start) {
    if (start.after() != null && log.isAhead(start.after())) {
      throw new Problem(400,
          "Last-Event-ID " + start.after() + " is not the id of an event that this console has sent");
    }
  }

  static void requireBroker(boolean hasBroker) {
    if (!hasBroker) {
      throw new Problem(409, "this console has no broker, and events arrive from one: start it with --broker");
    }
  }

  static EventFilter filter(String types, String programs, String hosts, String where) {
    try {
      return EventFilter.of(types, programs, hosts, where);
    } catch (IllegalArgumentException e) {
      throw new Problem(400, "where is not a condition: " + e.getMessage());
    }
  }

  private static void follow(EventClient client, EventQueue queue) throws IOException, InterruptedException {
    client.send(); // the header: the client gets what arrives from now on
    for (int silent = 0; true; silent++) {
      List<EventQueue.Item> items = queue.take(SEND_BYTES, PACE_MS);
      client.requireLogin();
      for (EventQueue.Item item : items) {
        add(client, item);
      }
      if (silent >= PACES_OF_SILENCE) {
        client.stillHere();
      }
      if (!items.isEmpty() || silent >= PACES_OF_SILENCE) {
        client.send();
        silent = 0;
      }
    }
  }

  private static void add(EventClient client, EventQueue.Item item) throws IOException {
    if (item instanceof EventQueue.Event event) {
      client.event("event", event.json(), event.id().toString());
    } else if (item instanceof EventQueue.Skipped skipped) {
      client.event("skipped", Map.of("events", skipped.events()));
    } else if (item instanceof EventQueue.Gap gap) {
      client.event("gap", gap);
    }
  }
}
