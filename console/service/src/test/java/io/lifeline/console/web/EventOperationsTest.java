package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.console.events.EventLog;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Subscribes with real sockets. */
@Tag("system")
class EventOperationsTest {
  private static final long UNREAD_MS = 30_000;
  private static final int BATCH = 1000;
  private static final String WIDE = "x".repeat(500);

  private static long number(EventSource.Received event) {
    return event.data().get("id").asLong();
  }

  private static List<Long> numbers(List<EventSource.Received> events) {
    return events.stream().map(EventOperationsTest::number).toList();
  }

  @Test
  void eventsAreSelectedByTypeProgramHostAndCondition() throws Exception {
    try (Console console = new Console(new EventLog(1 << 20), UNREAD_MS);
        var all = new EventSource(console.url("/events"));
        var some = new EventSource(console.url("/events?type=disk.*&program=w*&host=here&where=id%20%3E%3D%202"));
        var nobody = new EventSource(console.url("/events?host=elsewhere"));
        var others = new EventSource(console.url("/events?type=net.*"))) {
      console.add(4, "a \"quoted\"\n\u2028<script>");
      assertThat(numbers(all.until(event -> number(event) == 4))).containsExactly(0L, 1L, 2L, 3L, 4L);
      List<EventSource.Received> chosen = some.until(event -> number(event) == 3);
      assertThat(numbers(chosen)).containsExactly(2L, 3L);
      assertThat(chosen.get(0).name()).isEqualTo("event");
      assertThat(chosen.get(0).data().get("what").asText()).isEqualTo("a \"quoted\"\n\u2028<script>");
      assertThat(chosen.get(0).data().get("type").asText()).isEqualTo("disk.step");
      assertThat(numbers(List.of(others.next()))).containsExactly(4L);
      assertThat(console.events.clients()).isEqualTo(4);
    }
  }

  @Test
  void aClientResumesBehindTheLastEventThatItHas() throws Exception {
    try (Console console = new Console(new EventLog(1 << 20), UNREAD_MS)) {
      String last;
      try (var first = new EventSource(console.url("/events"))) {
        console.add(9, "before");
        last = first.until(event -> number(event) == 3).get(3).id();
      }
      console.add(9, "after");
      try (var again = new EventSource(console.url("/events?type=disk.*"), "Last-Event-ID: " + last)) {
        assertThat(numbers(again.until(event -> number(event) == 18)))
            .containsExactly(4L, 5L, 6L, 7L, 8L, 10L, 11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L);
      }
      Console.await("clients that have gone are noticed", () -> {
        try {
          console.add(9, "more"); // what is sent to them fails
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
        return console.events.clients() == 0;
      });
    }
  }

  @Test
  void aClientThatResumesTooLateIsToldWhatIsMissing() throws Exception {
    try (Console console = new Console(new EventLog(20_000), UNREAD_MS)) {
      String last;
      try (var first = new EventSource(console.url("/events"))) {
        console.add(9, "before");
        last = first.next().id();
      }
      for (int i = 0; i < 100; i++) {
        console.add(9, WIDE);
      }
      try (var again = new EventSource(console.url("/events"), "Last-Event-ID: " + last)) {
        EventSource.Received gap = again.next();
        EventSource.Received next = again.next();
        assertThat(gap.name()).isEqualTo("gap");
        assertThat(gap.data().get("reason").asText()).contains(last).contains("archive");
        assertThat(gap.data().get("events").asLong()).isEqualTo(number(next) - 1).isPositive();
      }
      try (var other = new EventSource(console.url("/events?history=1h"), "Last-Event-ID: 00000000-7")) {
        assertThat(other.next().data().get("reason").asText()).contains("00000000-7").contains("earlier run");
        assertThat(other.next().data().get("reason").asText()).contains("memory has all events since");
        assertThat(other.next().name()).isEqualTo("event");
      }
    }
  }

  @Test
  void aSubscriptionBeginsWithItsHistory() throws Exception {
    try (Console console = new Console(new EventLog(1 << 20), UNREAD_MS)) {
      long now = System.currentTimeMillis();
      console.add(9, "old", now - 3_600_000);
      console.add(9, "young", now - 60_000);
      try (var source = new EventSource(console.url("/events?history=10m&type=disk.*"))) {
        console.add(9, "new");
        assertThat(numbers(source.until(event -> number(event) == 28))).startsWith(10L, 11L).hasSize(18);
      }
    }
  }

  @Test
  void eventsThatASlowClientMissesAreCounted() throws Exception {
    try (Console console = new Console(new EventLog(1 << 20), UNREAD_MS);
        var slow = new EventSource(console.url("/events?type=disk.*"))) {
      int batches = 200; // of more bytes than kernel, queue and log hold
      for (int i = 0; i < batches; i++) {
        console.add(BATCH, WIDE);
      }
      assertThat(console.log.size()).isLessThan(2 << 20);
      long received = 0;
      long skipped = 0;
      long last = -1;
      while (received + skipped < batches * BATCH) {
        EventSource.Received event = slow.next();
        if (event.name().equals("skipped")) {
          skipped += event.data().get("events").asLong();
          assertThat(event.id()).isNull();
        } else {
          received++;
          assertThat(number(event)).isGreaterThan(last);
          last = number(event);
        }
      }
      assertThat(received).isPositive();
      assertThat(skipped).isPositive();
      console.add(1, "now");
      slow.until(event -> event.name().equals("event") && event.data().get("what").asText().equals("now"));
    }
  }

  @Test
  void aClientThatReadsNothingIsClosed() throws Exception {
    try (Console console = new Console(new EventLog(64 << 20), 1000);
        var deaf = new EventSource(console.url("/events"))) {
      for (int i = 0; i < 50; i++) {
        console.add(BATCH, WIDE);
      }
      assertThat(console.events.clients()).isEqualTo(1);
      Console.await("the client is closed", () -> console.events.clients() == 0);
      try (var other = new EventSource(console.url("/events?history=1h"))) {
        assertThat(other.next()).as("others are served").isNotNull();
      }
    }
  }

  @Test
  void moreClientsThanPlacesAreRefused() throws Exception {
    try (Console console = new Console(new EventLog(1 << 20), UNREAD_MS)) {
      EventSource[] clients = new EventSource[50];
      for (int i = 0; i < clients.length; i++) {
        clients[i] = new EventSource(console.url("/events"));
        assertThat(clients[i].status).contains("200");
      }
      try (var more = new EventSource(console.url("/events"))) {
        assertThat(more.status).contains("503");
        assertThat(more.rest()).contains("try again");
      }
      for (EventSource client : clients) {
        client.close();
      }
    }
  }

  @Test
  void whatIsWrongIsRefusedBeforeTheStreamBegins() throws Exception {
    try (Console console = new Console(new EventLog(1 << 20), UNREAD_MS)) {
      for (String[] wrong : new String[][] {{"/events?wher=id", "no parameter wher"}, {"/events?history=ten", "10m"},
          {"/events?where=id%20%3E", "where is not a condition: line 1"}, {"/events?type=a&type=b", "2 times"}}) {
        try (var source = new EventSource(console.url(wrong[0]))) {
          assertThat(source.status).contains("400");
          assertThat(source.rest()).contains(wrong[1]);
        }
      }
      for (String id : List.of("x", "00000000-99999999999999999999")) {
        try (var source = new EventSource(console.url("/events"), "Last-Event-ID: " + id)) {
          assertThat(source.status).contains("400");
        }
      }
      assertThat(console.events.clients()).isZero();
    }
  }
}
