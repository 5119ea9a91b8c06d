package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.console.events.EventLog;
import io.lifeline.console.webhook.AlertWatch;
import io.lifeline.console.webhook.DeliveryLimits;
import io.lifeline.console.webhook.Targets;
import io.lifeline.console.webhook.Webhooks;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.jobs.live.Hosts;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sends to real web servers. */
@Tag("system")
class WebhookOperationsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final long UNREAD_MS = 30_000;
  private static final DeliveryLimits QUICK = new DeliveryLimits(Duration.ofMillis(500), 3, Duration.ofMillis(20));
  private static final DeliveryLimits PATIENT = new DeliveryLimits(Duration.ofSeconds(60), 3, Duration.ofMillis(20));

  @TempDir private Path directory;

  private static Console console(DeliveryLimits limits, Path file) throws IOException {
    EventLog log = new EventLog(1 << 20);
    return new Console(log, UNREAD_MS, new Webhooks(log, file, limits, new Targets(Set.of("127.0.0.1"))));
  }

  private static HttpResponse<String> send(Console console, String method, String path, Object body) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(console.url(path)).header("Content-Type", "application/json")
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(JSON.writeValueAsString(body)))
        .build(), BodyHandlers.ofString());
  }

  private static JsonNode created(Console console, Object webhook) throws Exception {
    HttpResponse<String> answer = send(console, "POST", "/webhooks", webhook);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    return JSON.readTree(answer.body());
  }

  /** Returns the deliveries of the only webhook as the list shows them. */
  private static JsonNode deliveries(Console console) {
    try {
      return JSON.readTree(send(console, "GET", "/webhooks", null).body()).at("/webhooks/0/deliveries");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static String signature(String secret, String seconds, byte[] body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    mac.update((seconds + ".").getBytes(StandardCharsets.UTF_8));
    return "t=" + seconds + ",v1=" + HexFormat.of().formatHex(mac.doFinal(body));
  }

  @Test
  void aBatchIsSignedAndRepeatedUntilTheTargetTakesIt() throws Exception {
    try (Target target = new Target(request -> request < 2 ? 500 : 200); Console console = console(PATIENT, null)) {
      JsonNode created = created(console, Map.of("url", target.url(), "type", "disk.*", "where", "id >= 2"));
      console.add(4, "a\"b");
      Console.await("events are delivered", () -> deliveries(console).path("delivered").asInt() == 2);
      List<Target.Request> attempts = target.requests.stream()
          .filter(request -> request.delivery().equals(target.requests.get(0).delivery())).toList();
      assertThat(attempts).hasSize(3);
      for (Target.Request request : attempts) {
        String seconds = request.signature().replaceAll("t=([0-9]+),.*", "$1");
        assertThat(Long.parseLong(seconds)).isCloseTo(System.currentTimeMillis() / 1000,
            within(60L));
        assertThat(request.signature())
            .isEqualTo(signature(created.path("secret").asText(), seconds, request.body()));
        assertThat(request.body()).isEqualTo(attempts.get(0).body());
        assertThat(request.contentType()).isEqualTo("application/json");
      }
      JsonNode body = attempts.get(2).json();
      assertThat(body.path("webhook").asText()).isEqualTo(created.path("id").asText());
      assertThat(body.path("events").findValuesAsText("id")).contains("2");
      assertThat(body.at("/events/0/what").asText()).isEqualTo("a\"b");
      assertThat(body.path("alerts")).isEmpty();
      JsonNode counts = deliveries(console);
      assertThat(counts.path("failedAttempts").asInt()).isEqualTo(2);
      assertThat(counts.path("lastError").asText()).isEqualTo("the target answered 500");
      assertThat(counts.path("queued").asInt()).isZero();
    }
  }

  @Test
  void aTargetThatHangsIsGivenUpAndItsQueueIsBounded() throws Exception {
    try (Target target = new Target(request -> Target.HANG); Target other = new Target(request -> 204);
        Console console = console(QUICK, null)) {
      created(console, Map.of("url", target.url(), "type", "*"));
      created(console, Map.of("url", other.url(), "type", "net.*"));
      console.add(1, "first");
      Console.await("a batch is given up", () -> deliveries(console).path("droppedAfterRetries").asInt() == 2);
      assertThat(deliveries(console).path("lastError").asText()).contains("did not answer within 500 ms");
      assertThat(deliveries(console).path("failedAttempts").asInt()).isGreaterThanOrEqualTo(3);
      int batches = 100;
      int size = 1000;
      for (int i = 0; i < batches; i++) {
        console.add(size, "x".repeat(500));
      }
      Console.await("the queue is full", () -> deliveries(console).path("droppedForRoom").asInt() > 0);
      assertThat(deliveries(console).path("queued").asInt()).isLessThan(10_000);
      Console.await("another target is served", () -> other.requests.stream()
          .mapToInt(request -> request.json().path("events").size() + request.json().path("skipped").asInt())
          .sum() >= batches + 1);
    }
  }

  @Test
  void redirectsAreNotFollowed() throws Exception {
    try (Target target = new Target(request -> 302); Console console = console(QUICK, null)) {
      created(console, Map.of("url", target.url(), "type", "*"));
      console.add(1, "");
      Console.await("it is given up", () -> deliveries(console).path("droppedAfterRetries").asInt() == 2);
      assertThat(target.requests).hasSizeGreaterThanOrEqualTo(3);
      assertThat(deliveries(console).path("lastError").asText()).contains("302").contains("redirects are not followed");
    }
  }

  @Test
  void aTargetThatIsNotThereIsShown() throws Exception {
    String url;
    try (Target gone = new Target(request -> 200)) {
      url = gone.url();
    }
    try (Console console = console(QUICK, null)) {
      created(console, Map.of("url", url, "type", "*"));
      console.add(1, "");
      Console.await("it is given up", () -> deliveries(console).path("droppedAfterRetries").asInt() == 2);
      assertThat(deliveries(console).path("lastError").asText()).contains("cannot be reached").contains("Connect");
    }
  }

  @Test
  void eachAlertThatIsRaisedOrClearedIsSent() throws Exception {
    NatsServer nats = NatsServer.shared();
    JobConfig settings = JobConfig.load(null, Map.of(), Map.of("broker.url", nats.url()));
    try (Connection connection = nats.connect(); Target target = new Target(request -> 200);
        Console console = console(PATIENT, null);
        AlertWatch watch = new AlertWatch(() -> Hosts.published(settings, LiveStart.NOW, Destination.ALERTS),
            console.webhooks)) {
      nats.createStreams(connection);
      publish(connection, "disk", "before");
      created(console, Map.of("url", target.url(), "alerts", true));
      for (String state : List.of("on", "off", "on", "off")) {
        publish(connection, "disk", state);
        publishText(connection, "forged", "{}],\"events\":[{\"type\":\"forged\"}");
      }
      Console.await("all are sent", () -> states(target).size() == 4);
      assertThat(states(target)).containsExactly("on", "off", "on", "off");
      assertThat(target.requests.get(0).json().path("events")).isEmpty();
    }
  }

  private static void publish(Connection connection, String key, String state) throws Exception {
    publishText(connection, key, "{\"alert\":\"test\",\"state\":\"" + state + "\"}");
  }

  private static void publishText(Connection connection, String key, String text) throws Exception {
    connection.jetStream().publish("lifeline.alerts", new Headers().put("Lifeline-Key", key),
        text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> states(Target target) {
    return target.requests.stream().flatMap(request -> request.json().path("alerts").findValuesAsText("state").stream())
        .toList();
  }

  @Test
  void webhooksAreKeptInAFileThatOnlyItsOwnerReads() throws Exception {
    Path file = directory.resolve("webhooks.json");
    String id;
    try (Target target = new Target(request -> 200)) {
      try (Console console = console(PATIENT, file)) {
        id = created(console, Map.of("url", target.url(), "type", "*", "secret", "correct horse")).path("id").asText();
        created(console, Map.of("url", target.url(), "type", "nothing"));
        HttpResponse<String> list = send(console, "GET", "/webhooks", null);
        assertThat(list.body()).contains(target.url()).doesNotContain("correct horse").doesNotContain("secret");
      }
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
      try (Console console = console(PATIENT, file)) {
        console.add(1, "");
        Console.await("it goes on", () -> !target.requests.isEmpty());
        Target.Request request = target.requests.get(0);
        String seconds = request.signature().replaceAll("t=([0-9]+),.*", "$1");
        assertThat(request.signature()).isEqualTo(signature("correct horse", seconds, request.body()));
        assertThat(send(console, "DELETE", "/webhooks/" + id, null).statusCode()).isEqualTo(204);
        assertThat(send(console, "DELETE", "/webhooks/" + id, null).statusCode()).isEqualTo(404);
      }
      assertThat(Files.readString(file)).doesNotContain(id).contains("nothing");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
      assertThatThrownBy(() -> console(PATIENT, file)).isInstanceOf(IOException.class)
          .hasMessageContaining("chmod 600");
      Files.delete(file);
      Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(file, "{\"webhooks\": [{\"url\": \"ftp://x\"}]}");
      assertThatThrownBy(() -> console(PATIENT, file)).isInstanceOf(IOException.class).hasMessageContaining("http://");
    }
  }

  @Test
  void whatIsWrongIsRefused() throws Exception {
    try (Console console = console(QUICK, null)) {
      Map<Map<String, Object>, String> wrong = Map.of(
          Map.of("type", "*"), "url is missing",
          Map.of("url", "file:///etc/passwd", "type", "*"), "http://",
          Map.of("url", "http://me:secret@example.org/", "type", "*"), "password",
          Map.of("url", "http://a b", "type", "*"), "url is none",
          Map.of("url", "http://169.254.169.254/latest/meta-data", "type", "*"), "is not a public one",
          Map.of("url", "http://[::1]:81/", "type", "*"), "is not a public one",
          Map.of("url", "http://a/"), "type is missing",
          Map.of("url", "http://a/", "type", "*", "where", "1 +"), "where is not a condition",
          Map.of("url", "http://a/", "type", "*", "secret", "short"), "secret must have",
          Map.of("url", "http://a/", "type", "*", "wher", "x"), "wher");
      for (Map.Entry<Map<String, Object>, String> each : wrong.entrySet()) {
        HttpResponse<String> answer = send(console, "POST", "/webhooks", each.getKey());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(answer.body()).contains(each.getValue());
      }
      for (int i = 0; i < Webhooks.MOST; i++) {
        created(console, Map.of("url", "http://127.0.0.1:9/", "type", "*"));
      }
      assertThat(send(console, "POST", "/webhooks", Map.of("url", "http://a/", "type", "*")).statusCode())
          .isEqualTo(409);
      HttpResponse<String> text = HTTP.send(HttpRequest.newBuilder(console.url("/webhooks"))
          .header("Content-Type", "text/plain").POST(BodyPublishers.ofString("{}")).build(), BodyHandlers.ofString());
      assertThat(text.statusCode()).isEqualTo(415);
    }
  }

  @Test
  void aSecretInTheUrlOfAWebhookIsNotShown() throws Exception {
    try (Console console = console(PATIENT, null); Target target = new Target(request -> 200)) {
      created(console, Map.of("url", target.url() + "services/T0/s3cret?key=k3y", "type", "*"));
      assertThat(send(console, "GET", "/webhooks", null).body()).contains(target.url() + "...")
          .doesNotContain("s3cret").doesNotContain("k3y");
      console.add(1, "x");
      Console.await("the delivery", () -> !target.requests.isEmpty());
    }
  }
}
