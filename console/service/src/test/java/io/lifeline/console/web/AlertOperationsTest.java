package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.alerts.PacedUpserts;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Upserts;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.live.Hosts;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Alerts on a real nats-server. */
@Tag("system")
class AlertOperationsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final long ALWAYS_MS = -1;
  private static final long ONCE_MS = 600_000;

  @TempDir private Path directory;

  private static Server serve(Upserts upserts) throws IOException {
    return Server.start(new Server.Address("127.0.0.1", 0, null), Routes.of(new AlertOperations(upserts)),
        new Metrics(), Access.withoutLogin(), Audit.none());
  }

  private static HttpResponse<String> get(Server server, String query) {
    return HTTP.sendAsync(request(server, query), BodyHandlers.ofString()).join();
  }

  private static HttpRequest request(Server server, String query) {
    return HttpRequest.newBuilder(URI.create(server.url()).resolve("/api/v1/alerts" + query)).build();
  }

  private static JsonNode alerts(Server server, String query) throws Exception {
    HttpResponse<String> answer = get(server, query);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  private static void publish(Connection connection, String key, String text) throws Exception {
    Headers headers = key == null ? null : new Headers().put("Lifeline-Key", key);
    connection.jetStream().publish("lifeline.alerts", headers, text.getBytes(StandardCharsets.UTF_8));
  }

  private static String alert(String subject, String state, long atNs) {
    return "{\"alert\":\"bottleneck\",\"state\":\"" + state + "\",\"group\":\"copy 7\",\"subject\":\"" + subject
        + "\",\"reason\":\"slowest\",\"since\":\"2026-10-01T10:00:00Z\",\"since_ns\":1,\"at\":\"2026-10-01T10:00:05Z\","
        + "\"at_ns\":" + atNs + ",\"chance\":0.001,\"components\":[{\"component\":\"net\",\"busy\":0.9}]}";
  }

  @Test
  void activeAlertsComeFirstWithTheirEvidence() throws Exception {
    try (NatsServer nats = NatsServer.start(directory.resolve("broker")); Connection connection = nats.connect()) {
      nats.createStreams(connection);
      Upserts upserts = Hosts.upserts(JobConfig.load(null, Map.of(), Map.of("broker.url", nats.url())));
      try (Server server = serve(new PacedUpserts(upserts, ALWAYS_MS))) {
        assertThat(alerts(server, "").path("rows")).isEmpty();
        publish(connection, "a", alert("disk", "on", 3));
        publish(connection, "b", alert("net", "on", 4));
        publish(connection, "c", alert("cpu", "on", 5));
        publish(connection, "c", alert("cpu", "off", 6));
        publish(connection, "d", "not JSON");
        publish(connection, "e", alert("x".repeat(70_000), "on", 7));
        publish(connection, null, alert("without a key", "on", 8));
        JsonNode active = alerts(server, "");
        assertThat(active.path("active").asInt()).isEqualTo(2);
        assertThat(active.path("cleared").asInt()).isEqualTo(1);
        assertThat(active.path("unreadable").asInt()).isEqualTo(2);
        assertThat(active.path("rows").findValuesAsText("subject")).containsExactly("net", "disk");
        JsonNode first = active.at("/rows/0");
        assertThat(first.path("group").asText()).isEqualTo("copy 7");
        assertThat(first.path("reason").asText()).isEqualTo("slowest");
        assertThat(first.path("since").asText()).isEqualTo("2026-10-01T10:00:00Z");
        assertThat(JSON.convertValue(first.path("evidence"), Map.class)).isEqualTo(
            Map.of("chance", 0.001, "components", List.of(Map.of("component", "net", "busy", 0.9))));
        assertThat(alerts(server, "?all=true").path("rows").findValuesAsText("subject"))
            .containsExactly("net", "disk", "cpu");
        assertThat(get(server, "?all=perhaps").statusCode()).isEqualTo(400);
        nats.kill();
        HttpResponse<String> gone = get(server, "");
        assertThat(gone.statusCode()).as(gone.body()).isEqualTo(503);
        assertThat(gone.body()).contains("the alerts cannot be read");
        assertThat(gone.headers().firstValue("Retry-After")).hasValue("5");
      }
    }
  }

  @Test
  void theBrokerIsAskedOnceHoweverManyAsk() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Upserts upserts = destination -> {
      asked.incrementAndGet();
      return Map.of("a", alert("disk", "on", 1).getBytes(StandardCharsets.UTF_8));
    };
    try (Server server = serve(new PacedUpserts(upserts, ONCE_MS))) {
      IntStream.range(0, 50).mapToObj(i -> HTTP.sendAsync(request(server, ""), BodyHandlers.ofString()))
          .toList().stream().map(CompletableFuture::join)
          .forEach(answer -> assertThat(answer.body()).contains("disk"));
      assertThat(asked).hasValue(1);
    }
  }

  @Test
  void withoutABrokerThereAreNone() throws Exception {
    try (Server server = serve(null)) {
      assertThat(get(server, "").statusCode()).isEqualTo(409);
    }
  }
}
