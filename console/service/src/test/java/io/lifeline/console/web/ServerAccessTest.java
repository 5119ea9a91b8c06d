package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.http.HandlerType;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Limits;
import io.lifeline.console.access.MovableClock;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.Tls;
import io.lifeline.console.access.Token;
import io.lifeline.console.access.TokenRequest;
import io.lifeline.console.access.Tokens;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.nats.TlsContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server over TLS, asked by another client. */
@Tag("system")
class ServerAccessTest {
  private static final Identity ROOT = new Identity("command:root", Role.ADMIN, null, "here", Limits.NONE);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir static Path certificates;
  @TempDir Path directory;
  private final MovableClock clock = new MovableClock();
  private final HttpClient client = client(Optional.empty());
  private Tokens tokens;
  private Access access;
  private Routes routes;
  private Server server;
  private String admin;
  private String operator;
  private String viewer;

  /** As the tests of brokers make them. */
  @BeforeAll
  static void makeCertificates() throws Exception {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.exists(root.resolve("scripts/lib/credentials.sh"))) {
      root = root.getParent();
    }
    Process process = new ProcessBuilder("bash", "-c", "die() { echo \"$*\"; exit 1; }; source " + root
        + "/scripts/lib/credentials.sh && make_tls " + certificates).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @BeforeEach
  void start() throws Exception {
    tokens = new Tokens(directory.resolve("tokens.json"), clock);
    admin = issue("root", "admin", null, null);
    operator = issue("ann", "activate", List.of("disk.*"), clock.instant().plusSeconds(600).toString());
    viewer = issue("vic", "view", null, null);
    restart(Access.withLogin(tokens, null, clock), directory.resolve("audit.log"), null);
  }

  @AfterEach
  void end() {
    server.close();
  }

  private String issue(String name, String role, List<String> types, String until) {
    return tokens.issue(new TokenRequest(name, role, null, types, null, null, until), ROOT).secret();
  }

  private void restart(Access callers, Path audit, Path clientAuthority) throws IOException {
    if (server != null) {
      server.close();
    }
    access = callers;
    StatusOperations status = new StatusOperations(() -> new StatusOperations.Status("1", null, null, null, null, "0"));
    routes = Routes.of(status, new ArchiveOperations(new ArchiveQuestions(null)),
        new AccessOperations(access));
    Tls tls = Tls.of(certificates.resolve("server.pem"), certificates.resolve("server.key"), clientAuthority,
        clientAuthority != null && callers.tokens() == null);
    server = Server.start(new Server.Address("127.0.0.1", 0, tls), routes, new Metrics(), access,
        audit == null ? Audit.none() : Audit.of(audit, clock));
  }

  private static HttpClient client(Optional<Path> certificate) {
    return HttpClient.newBuilder().connectTimeout(PATIENCE).sslContext(TlsContext.of(
        Optional.of(certificates.resolve("ca.pem")), certificate, certificate.map(path -> path.resolveSibling(
            path.getFileName().toString().replace(".pem", ".key"))))).build();
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(server.url()).resolve(path)).timeout(PATIENCE)
        .header("Content-Type", "application/json");
  }

  private HttpRequest.Builder to(String path, String token) {
    return to(path).header("Authorization", "Bearer " + token);
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String token, String body) throws Exception {
    return send(to(path, token).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private static String detail(HttpResponse<String> answer, int status) throws Exception {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
    JsonNode problem = JSON.readTree(answer.body());
    assertThat(problem.get("status").asInt()).isEqualTo(status);
    return problem.get("detail").asText();
  }

  private List<String> audited() throws Exception {
    List<String> found = new ArrayList<>();
    for (String line : Files.readAllLines(directory.resolve("audit.log"))) {
      JsonNode entry = JSON.readTree(line);
      found.add(String.join(" ", entry.get("who").asText(), entry.get("action").asText(),
          entry.get("outcome").asText().replaceFirst(":.*", "")));
    }
    return found;
  }

  @Test
  void onlyThePageAndSigningInNeedNoLogin() throws Exception {
    List<String> open = new ArrayList<>();
    for (Operation operation : routes.operations()) {
      HttpResponse<String> answer = send(to("api/v1" + operation.path().replaceAll("\\{.*?}", "1"))
          .method(operation.method().name(), HttpRequest.BodyPublishers.ofString("{}")));
      if (answer.statusCode() != 401) {
        open.add(operation.name());
        continue;
      }
      assertThat(detail(answer, 401)).contains("send a token as Authorization: Bearer");
      assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer realm=\"lifeline-console\"");
    }
    assertThat(open).containsExactly("POST /session", "DELETE /session");
    for (String path : List.of("metrics", "api/v1/openapi.json")) {
      detail(send(to(path)), 401);
      assertThat(send(to(path, viewer)).statusCode()).as(path).isEqualTo(200);
    }
  }

  @Test
  void aRoleIsNeededAndTheCallerKnown() throws Exception {
    HttpResponse<String> wrong = send(to("api/v1/status", "llc_wrong"));
    assertThat(detail(wrong, 401)).isEqualTo("the token is unknown: mistyped, expired or revoked");
    assertThat(wrong.headers().firstValue("WWW-Authenticate"))
        .contains("Bearer realm=\"lifeline-console\", error=\"invalid_token\"");
    JsonNode user = JSON.readTree(send(to("api/v1/status", operator)).body()).get("user");
    assertThat(user.get("name").asText()).isEqualTo("ann");
    assertThat(user.get("role").asText()).isEqualTo("activate");
    assertThat(detail(post("api/v1/tokens", viewer, "{}"), 403))
        .isEqualTo("POST /tokens needs role activate, but vic has role view: use a token with that role");
    assertThat(audited()).containsExactly("vic POST /tokens refused");
    assertThat(detail(post("api/v1/sql", viewer, "{\"sql\":\"SELECT 1\"}"), 409)).contains("has no archive");
  }

  @Test
  void nothingIsServedWithoutTlsAndNothingBelowOnePointTwo() throws Exception {
    assertThat(server.url()).startsWith("https://");
    assertThatThrownBy(() -> client.send(HttpRequest.newBuilder(URI.create(server.url().replace("https:", "http:")))
        .timeout(PATIENCE).build(), BodyHandlers.ofString())).isInstanceOf(IOException.class);
    HttpResponse<String> page = send(to("metrics", viewer));
    assertThat(page.sslSession().orElseThrow().getProtocol()).isEqualTo("TLSv1.3");
    SSLParameters older = new SSLParameters();
    older.setProtocols(new String[] {"TLSv1.2"});
    HttpClient old = HttpClient.newBuilder().sslContext(client.sslContext()).sslParameters(older).build();
    assertThat(old.send(to("metrics", viewer).build(), BodyHandlers.ofString()).sslSession().orElseThrow()
        .getProtocol()).isEqualTo("TLSv1.2");
  }

  @Test
  void thePageSignsInOnceAndOut() throws Exception {
    HttpResponse<String> in = send(to("api/v1/session")
        .POST(HttpRequest.BodyPublishers.ofString("{\"token\":\"" + viewer + "\"}")));
    assertThat(in.statusCode()).isEqualTo(204);
    String cookie = in.headers().firstValue("Set-Cookie").orElseThrow();
    assertThat(cookie).startsWith("__Host-lifeline-").contains("; Path=/", "; Secure", "; HttpOnly",
        "; SameSite=Strict").doesNotContain(viewer, "Domain");
    String session = cookie.substring(0, cookie.indexOf(';'));
    JsonNode user = JSON.readTree(send(to("api/v1/status").header("Cookie", session)).body()).get("user");
    assertThat(user.get("name").asText()).isEqualTo("vic");
    assertThat(user.get("session").asBoolean()).isTrue();
    assertThat(detail(send(to("api/v1/session").header("Cookie", session).header("Origin", "https://evil.example")
        .DELETE()), 403)).contains("https://evil.example");
    assertThat(send(to("api/v1/session").header("Cookie", session).DELETE()).statusCode()).isEqualTo(204);
    assertThat(detail(send(to("api/v1/status").header("Cookie", session)), 401)).contains("no longer signed in");
    assertThat(detail(send(to("api/v1/session").POST(HttpRequest.BodyPublishers.ofString("{\"token\":\"x\"}"))), 401))
        .contains("unknown");
  }

  @Test
  void failedLoginsAreLimited() throws Exception {
    HttpResponse<String> answer = send(to("api/v1/status", "wrong"));
    for (int i = 0; i < 10; i++) {
      assertThat(answer.statusCode()).isEqualTo(401);
      answer = send(to("api/v1/status", "wrong"));
    }
    assertThat(detail(answer, 429)).contains("failed within a minute");
    assertThat(Integer.parseInt(answer.headers().firstValue("Retry-After").orElseThrow())).isBetween(1, 61);
    assertThat(send(to("api/v1/status", viewer)).statusCode()).isEqualTo(200);
  }

  /** Opens a stream and reads its first event. */
  private BufferedReader stream(HttpRequest.Builder request) throws Exception {
    HttpResponse<InputStream> answer =
        client.send(request.header("Accept", "text/event-stream").build(), BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).isEqualTo(200);
    BufferedReader lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
    assertThat(lines.readLine()).isEqualTo("event: status");
    return lines;
  }

  private static String rest(BufferedReader lines) throws IOException {
    StringBuilder rest = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      rest.append(line).append('\n');
    }
    return rest.toString();
  }

  @Test
  void aStreamEndsWhenItsTokenExpires() throws Exception {
    try (BufferedReader other = stream(to("api/v1/stream", viewer));
        BufferedReader lines = stream(to("api/v1/stream", operator))) {
      clock.move(Duration.ofSeconds(600));
      assertThat(rest(lines)).contains("event: signed-out\ndata: {\"detail\":\"the login of ann ended at ")
          .endsWith("sign in again with a token that is valid\"}\n\n");
      assertThat(detail(send(to("api/v1/status", operator)), 401)).startsWith("the token ann expired at");
      tokens.revoke("vic");
      assertThat(rest(other)).contains("event: signed-out\ndata: {\"detail\":\"the token vic was revoked: sign in");
    }
    assertThat(detail(send(to("api/v1/status", viewer)), 401)).contains("unknown: mistyped, expired or revoked");
  }

  @Test
  void aStreamEndsWhenTheTokensCannotBeRead() throws Exception {
    try (BufferedReader lines = stream(to("api/v1/stream", viewer))) {
      Files.writeString(directory.resolve("tokens.json"), "nonsense");
      assertThat(rest(lines)).contains("event: signed-out\ndata: {\"detail\":\"the tokens in ");
    }
    assertThat(detail(send(to("api/v1/status", viewer)), 503)).contains("tokens.json cannot be read: ");
  }

  @Test
  void aKeyOfAnotherCertificateIsRefusedAtStart() {
    assertThatThrownBy(() -> Tls.of(certificates.resolve("server.pem"), certificates.resolve("client.key"), null, false))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("client.key is not the private key of the"
            + " certificate in ");
  }

  @Test
  void nobodyGivesMoreThanHeHas() throws Exception {
    HttpResponse<String> answer = post("api/v1/tokens", operator,
        "{\"name\":\"bo\",\"role\":\"activate\",\"onBehalfOf\":\"Bo\",\"types\":[\"disk.read.*\"],\"resolution\":\"summary\"}");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
    JsonNode issued = JSON.readTree(answer.body());
    assertThat(issued.get("token").get("issuedBy").asText()).isEqualTo("ann");
    String bo = issued.get("secret").asText();
    assertThat(send(to("api/v1/status", bo)).statusCode()).isEqualTo(200);

    assertThat(detail(post("api/v1/tokens", operator, "{\"name\":\"x\",\"role\":\"admin\"}"), 403))
        .isEqualTo("ann has role activate and cannot issue a token with role admin: ask for at most activate");
    assertThat(detail(post("api/v1/tokens", operator, "{\"name\":\"x\",\"role\":\"view\",\"types\":[\"net.*\"]}"), 403))
        .isEqualTo("ann cannot issue a token for event types net.*, but only disk.* is allowed");
    assertThat(detail(post("api/v1/tokens", bo, "{\"name\":\"x\",\"role\":\"view\",\"resolution\":\"full\"}"), 403))
        .contains("resolution full, but at most summary is allowed");
    assertThat(detail(post("api/v1/tokens", bo,
        "{\"name\":\"x\",\"role\":\"view\",\"until\":\"2099-01-01T00:00:00Z\"}"), 403)).contains("at the latest");

    assertThat(names(operator)).containsExactly("bo");
    assertThat(names(viewer)).isEmpty();
    assertThat(names(admin)).containsExactly("root", "ann", "vic", "bo");
    assertThat(send(to("api/v1/tokens", admin)).body()).doesNotContain("hash", "secret");
    assertThat(detail(send(to("api/v1/tokens/vic", operator).DELETE()), 403)).contains("did not issue the token vic");
    assertThat(send(to("api/v1/tokens/own", issue("own", "activate", null, null)).DELETE()).statusCode())
        .as("one's own").isEqualTo(200);
    assertThat(detail(send(to("api/v1/tokens/nobody", admin).DELETE()), 404)).isEqualTo("there is no token nobody");
    assertThat(send(to("api/v1/tokens/ann", admin).DELETE()).body()).isEqualTo("{\"tokens\":[\"ann\",\"bo\"]}");
    assertThat(send(to("api/v1/status", bo)).statusCode()).isEqualTo(401);

    List<String> audited = audited();
    assertThat(audited).startsWith("ann POST /tokens begun", "ann POST /tokens done", "ann POST /tokens begun",
        "ann POST /tokens refused").endsWith("root DELETE /tokens/{name} begun", "root DELETE /tokens/{name} done");
    assertThat(Files.readString(directory.resolve("audit.log"))).doesNotContain(bo, operator, admin)
        .contains("\"types\":[\"disk.read.*\"]", "/api/v1/tokens/vic");
  }

  private List<String> names(String token) throws Exception {
    List<String> names = new ArrayList<>();
    JSON.readTree(send(to("api/v1/tokens", token)).body()).get("tokens")
        .forEach(row -> names.add(row.get("name").asText()));
    return names;
  }

  @Test
  void withoutAuditNothingIsChanged() throws Exception {
    restart(access, Path.of("/dev/full"), null);
    assertThat(detail(post("api/v1/tokens", admin, "{\"name\":\"x\",\"role\":\"view\"}"), 503))
        .startsWith("the audit log /dev/full cannot be written: ").endsWith("without it, nothing is changed");
    assertThat(detail(send(to("api/v1/tokens/vic", admin).DELETE()), 503)).contains("/dev/full");
    assertThat(tokens.list()).extracting(Token::name).containsExactly("root", "ann", "vic");
    assertThat(send(to("api/v1/status", admin)).statusCode()).isEqualTo(200);
  }

  @Test
  void onALoopbackAddressEveryoneIsLocalButForeignNamesAndPagesAreRefused() throws Exception {
    server.close();
    server = Server.start(new Server.Address("127.0.0.1", 0, null), routes, new Metrics(), Access.withoutLogin(),
        Audit.none());
    JsonNode user = JSON.readTree(send(to("api/v1/status")).body()).get("user");
    assertThat(user.get("name").asText() + " " + user.get("role").asText()).isEqualTo("local admin");
    assertThat(user.get("until").isNull()).isTrue();
    assertThat(detail(send(to("api/v1/session").POST(HttpRequest.BodyPublishers.ofString("{\"token\":\"x\"}"))), 409))
        .isEqualTo("this console needs no login");
    assertThat(detail(send(to("api/v1/status").header("Origin", "https://evil.example")), 403)).contains("evil");
    int port = URI.create(server.url()).getPort();
    for (List<String> request : List.of(
        List.of("HTTP/1.1\r\nHost: evil.example\r\nConnection: close", "this server is not called evil.example"),
        List.of("HTTP/1.0", "the request names no server"))) {
      try (Socket socket = new Socket("127.0.0.1", port)) {
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.getOutputStream().write(("GET /api/v1/status " + request.get(0) + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
        assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).contains(" 403 ")
            .contains(request.get(1) + ": open it as http://127.0.0.1:" + port);
      }
    }
  }

  @Test
  void hostileNamesStayText() throws Exception {
    for (String name : List.of("<script>alert(1)</script>", "\\u202etxt", "../../etc/passwd", "a\\nb", "x".repeat(64_000),
        "local", "")) {
      assertThat(detail(post("api/v1/tokens", admin, "{\"role\":\"view\",\"name\":\"" + name + "\"}"), 400))
          .contains("of a token must be").hasSizeLessThan(300).doesNotContain("\u202e", "\n");
      assertThat(post("api/v1/tokens", admin, "{\"role\":\"view\",\"name\":\"a\",\"onBehalfOf\":\"" + name + "\"}")
          .statusCode()).isIn(201, 400);
      send(to("api/v1/tokens/a", admin).DELETE());
    }
    assertThat(detail(send(to("api/v1/tokens/%3Cscript%3E%0A", admin).DELETE()), 404))
        .isEqualTo("there is no token <script>?");
    assertThat(Files.readString(directory.resolve("audit.log")).chars().allMatch(c -> c == '\n' || c >= ' ' && c < 127))
        .isTrue();
  }

  @Test
  void certificatesOfTheAuthorityLogIn() throws Exception {
    restart(Access.withLogin(null, Role.VIEW, clock), null, certificates.resolve("ca.pem"));
    assertThatThrownBy(() -> send(to("api/v1/status"))).as("without a certificate").isInstanceOf(IOException.class);
    HttpClient known = client(Optional.of(certificates.resolve("client.pem")));
    JsonNode user = JSON.readTree(known.send(to("api/v1/status").build(), BodyHandlers.ofString()).body()).get("user");
    assertThat(user.get("name").asText()).isEqualTo("certificate:lifeline-client");
    assertThat(user.get("role").asText()).isEqualTo("view");
    assertThat(detail(known.send(to("api/v1/tokens/x").DELETE().build(), BodyHandlers.ofString()), 403))
        .contains("certificate:lifeline-client has role view");
    assertThat(detail(known.send(to("api/v1/status", viewer).build(), BodyHandlers.ofString()), 401))
        .contains("tokens do not count here");

    restart(Access.withLogin(tokens, Role.VIEW, clock), null, certificates.resolve("ca.pem"));
    assertThat(send(to("api/v1/status", viewer)).statusCode()).as("a token instead").isEqualTo(200);
    detail(send(to("api/v1/status")), 401);
    assertThat(known.send(to("api/v1/status").build(), BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    HttpResponse<String> both = known.send(to("api/v1/status", operator).build(), BodyHandlers.ofString());
    assertThat(JSON.readTree(both.body()).get("user").get("name").asText()).isEqualTo("ann");
  }

  @Test
  void theDocumentationNamesHowToLogInAndTheRoles() throws Exception {
    JsonNode document = JSON.readTree(send(to("api/v1/openapi.json", viewer)).body());
    assertThat(document.at("/components/securitySchemes/token/scheme").asText()).isEqualTo("bearer");
    assertThat(document.get("security")).hasSize(3);
    assertThat(document.at("/paths/~1session/post/security")).isEmpty();
    assertThat(document.at("/paths/~1session/post/security").isArray()).isTrue();
    assertThat(document.at("/paths/~1tokens/post/description").asText()).isEqualTo("Needs role activate.");
    for (Operation operation : routes.operations()) {
      boolean reads = operation.method() == HandlerType.GET || operation.path().equals("/sql");
      assertThat(operation.path().equals("/session") || operation.role() == (reads ? Role.VIEW : Role.ACTIVATE))
          .as(operation.name()).isTrue();
    }
  }
}
