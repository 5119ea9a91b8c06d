package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Limits;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.TokenRequest;
import io.lifeline.console.access.Tokens;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.directory.Directory;
import io.lifeline.jobs.live.Activations;
import io.lifeline.jobs.live.Programs;
import io.lifeline.servers.NatsServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens are held to their limits, whatever they set, extend or end. */
@Tag("system")
class ActivationLimitsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path PROGRAMS = Path.of("../../build/emitter/bin");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path directory;
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
  private NatsServer broker;
  private Activations activations;
  private Tokens tokens;
  private Server server;
  private String admin;
  private String limited;
  private String loud;

  @BeforeEach
  void start() throws Exception {
    broker = NatsServer.shared();
    JobConfig config = JobConfig.load(null, Map.of(), Map.of("broker.url", broker.url()));
    ProcessBuilder setup = new ProcessBuilder(PROGRAMS.resolve("lifeline-setup").toString(), "--url", broker.url());
    Process process = setup.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    activations = new Activations(config, Programs.in(PROGRAMS));
    tokens = new Tokens(directory.resolve("tokens.json"), Clock.systemUTC());
    admin = issue("root", "admin", null, null, null, null);
    String until = Instant.now().plusSeconds(1800).toString();
    limited = issue("ann", "activate", List.of("disk.*"), List.of("copy*"), "summary", until);
    loud = issue("bea", "activate", List.of("disk.*"), List.of("copy*"), "full", until);
    server = Server.start(new Server.Address("127.0.0.1", 0, null),
        Routes.of(new ActivationOperations(activations, new Directory())), new Metrics(),
        Access.withLogin(tokens, null, Clock.systemUTC()), Audit.none());
  }

  @AfterEach
  void end() throws Exception {
    server.close();
  }

  private String issue(String name, String role, List<String> types, List<String> programs, String resolution,
      String until) {
    return tokens.issue(new TokenRequest(name, role, null, types, programs, resolution, until),
        new Identity("command:root", Role.ADMIN, null, "here", Limits.NONE)).secret();
  }

  private HttpRequest request(String method, String path, String token, Object body) throws Exception {
    return HttpRequest.newBuilder(URI.create(server.url()).resolve("/api/v1/activations" + path)).timeout(PATIENCE)
        .header("Content-Type", "application/json").header("Authorization", "Bearer " + token)
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)))
        .build();
  }

  private int status(String method, String path, String token, Object body) throws Exception {
    return client.send(request(method, path, token, body), BodyHandlers.ofString()).statusCode();
  }

  private HttpResponse<String> set(String token, String id, String line, Integer seconds) throws Exception {
    return client.send(request("POST", "", token, wish(id, line, seconds)), BodyHandlers.ofString());
  }

  private static Map<String, Object> wish(String id, String line, Integer seconds) {
    Map<String, Object> wish = new HashMap<>(Map.of("line", line, "confirmed", true));
    wish.put("id", id);
    wish.put("seconds", seconds);
    return wish;
  }

  private String line(String id) throws Exception {
    return activations.list().stream().filter(one -> one.id().equals(id)).map(one -> one.line()).findFirst().orElse(null);
  }

  @Test
  void noLineExceedsTheLimits() throws Exception {
    for (String line : List.of("disk.* full program=copy", "disk.* sample:1000000000 program=copy",
        "disk.* sample:0001 program=copy", "* summary program=copy", "disk* summary program=copy",
        "d* off program=copy", "Disk.* off program=copy", "disk summary program=copy", "disk.* summary",
        "disk.* summary program=*", "disk.* summary program=cop*", "disk.* summary program=xcopy",
        "disk.* summary host=copy", "disk.* summary program=copy for=31m", "disk.* summary for=365d program=copy*",
        "\tdisk.*\r\tfull\tprogram=copy\tfor=1s", "disk.* full route=audit program=copy",
        "disk.* full when program=1", "disk.* full level<=warn program=copy")) {
      assertThat(set(limited, null, line, null).statusCode()).as(line).isEqualTo(403);
    }
    for (String line : List.of("disk.**  off program=copy", "*disk.* off program=copy", "disk.*.end off program=copy",
        "disk.* off program=*copy", "disk.* off program=", "disk.* off program=copy program=*", "disk.* off\nnet.* full",
        "disk.* off\0", "disk.* off id=other program=copy", "disk.* off issued=9999999999999 program=copy",
        "disk.* summary route=audit program=copy", "\ud800* full", "--all", "", "disk.* off; * full")) {
      assertThat(set(limited, null, line, null).statusCode()).as(line).isEqualTo(400);
    }
    for (String id : List.of("", "*", ">", "a.b", "a b", "\u00e4", "\ud800", "x".repeat(65), "x".repeat(900_000))) {
      assertThat(set(limited, id, "disk.* off program=copy", 60).statusCode()).as(id).isEqualTo(400);
    }
    assertThat(set(limited, "x", "disk.* off program=copy", 86_400).statusCode()).isEqualTo(403);
    assertThat(set(limited, "x", "disk.* off program=copy for=1s", 60).statusCode()).isEqualTo(400);
    assertThat(activations.list()).isEmpty();
    assertThat(set(limited, "x", "disk.read* summary of=nbytes timed interval=1s host=* program=copy*", 60).statusCode())
        .isEqualTo(201);
  }

  @Test
  void whatIsForOthersIsNotReplacedExtendedOrEnded() throws Exception {
    activations.set("net", "net.* off", PATIENCE);
    activations.set("all", "disk.* off", PATIENCE);
    activations.set("when", "disk.* full when id=5 program=copy", PATIENCE);
    activations.set("off", "disk.* off program=copy", PATIENCE);
    for (String id : List.of("net", "all", "when", "off")) {
      String before = line(id);
      assertThat(set(limited, id, "disk.* off program=copy", 1).statusCode()).as("replace " + id).isEqualTo(403);
      assertThat(status("POST", "/" + id + "/extend", limited, Map.of("seconds", 1))).as("extend " + id).isEqualTo(403);
      assertThat(status("DELETE", "/" + id, limited, null)).as("end " + id).isEqualTo(403);
      assertThat(line(id)).isEqualTo(before);
    }
    assertThat(status("POST", "/when/extend", loud, Map.of("seconds", 86_400))).isEqualTo(403);
    assertThat(status("POST", "/when/extend", loud, Map.of("seconds", 600))).isEqualTo(200);
    assertThat(line("when")).startsWith("disk.* full when id=5 program=copy for=600s issued=");
    assertThat(status("DELETE", "/off", loud, null)).isEqualTo(204);
    assertThat(set(limited, "own", "disk.* off program=copy", 60).statusCode()).isEqualTo(201);
    assertThat(status("POST", "/own/extend", limited, Map.of("seconds", 100))).isEqualTo(200);
    assertThat(status("DELETE", "/own", limited, null)).as("one's own").isEqualTo(204);
  }

  @Test
  void requestsAtTheSameTimeDoNotReplaceWhatIsForOthers() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      for (String token : List.of(limited, admin)) {
        String line = token.equals(admin) ? "net.* off" : "disk.* off program=copy";
        answers.add(client.sendAsync(request("POST", "", token, wish("race", line, 60)), BodyHandlers.ofString()));
      }
    }
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isIn(201, 403);
    }
    assertThat(line("race")).startsWith("net.* off");
    assertThat(status("DELETE", "/race", limited, null)).isEqualTo(403);
    JsonNode rows = JSON.readTree(client.send(request("GET", "", limited, null), BodyHandlers.ofString()).body());
    assertThat(rows.at("/rows/0/by").asText()).startsWith("root from ");
  }

  @Test
  void aNewTokenOfTheSameNameIsSomebodyElse() throws Exception {
    assertThat(set(limited, "kept", "disk.* off program=copy", 60).statusCode()).isEqualTo(201);
    tokens.revoke("ann");
    String another = issue("ann", "activate", List.of("disk.*"), List.of("copy*"), "summary",
        Instant.now().plusSeconds(1800).toString());
    assertThat(status("DELETE", "/kept", another, null)).isEqualTo(403);
    assertThat(set(another, "kept", "disk.* off program=copy", 1).statusCode()).isEqualTo(403);
    assertThat(status("DELETE", "/kept", admin, null)).isEqualTo(204);
  }
}
