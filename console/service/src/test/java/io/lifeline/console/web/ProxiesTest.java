package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.Identity;
import io.lifeline.console.access.Limits;
import io.lifeline.console.access.MovableClock;
import io.lifeline.console.access.Role;
import io.lifeline.console.access.TokenRequest;
import io.lifeline.console.access.Tokens;
import io.lifeline.jobs.core.Metrics;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signs in as a browser does whose page comes through a proxy that ends TLS. */
class ProxiesTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir Path directory;
  private Server server;
  private Access access;
  private String secret;

  @BeforeEach
  void issue() {
    MovableClock clock = new MovableClock();
    Tokens tokens = new Tokens(directory.resolve("tokens.json"), clock);
    secret = tokens.issue(new TokenRequest("ann", "view", null, null, null, null, null),
        new Identity("command:root", Role.ADMIN, null, "here", Limits.NONE)).secret();
    access = Access.withLogin(tokens, null, clock);
  }

  @AfterEach
  void end() {
    server.close();
  }

  private void start(String... trusted) throws Exception {
    server = Server.start(new Server.Address("127.0.0.1", 0, null, Proxies.of(List.of(trusted))),
        Routes.of(new AccessOperations(access)), new Metrics(), access, Audit.none());
  }

  private HttpResponse<String> signIn(String token, String scheme, String... headers) throws Exception {
    URI url = URI.create(server.url()).resolve("/api/v1/session");
    HttpRequest.Builder request = HttpRequest.newBuilder(url).header("Content-Type", "application/json")
        .header("Origin", scheme + "://127.0.0.1:" + url.getPort())
        .POST(BodyPublishers.ofString("{\"token\":\"" + token + "\"}"));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return HTTP.send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void whatATrustedProxySaysCounts() throws Exception {
    start("10.0.0.0/8", "127.0.0.0/9");
    for (String[] headers : new String[][] {{"X-Forwarded-Proto", "https"}, {"Forwarded", "for=192.0.2.1;proto=https"},
        {"Forwarded", "proto=http, for=\"[2001:db8::1]:77\"; Proto=HTTPS"}}) {
      HttpResponse<String> answer = signIn(secret, "https", headers);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(204);
      assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow()).startsWith("__Host-lifeline-")
          .contains("Secure").contains("HttpOnly");
      assertThat(signIn(secret, "http", headers).statusCode()).isEqualTo(403);
    }
    assertThat(signIn(secret, "https").statusCode()).isEqualTo(403);
    assertThat(signIn(secret, "https", "X-Forwarded-Proto", "https, http").statusCode()).isEqualTo(403);
    assertThat(signIn(secret, "http").statusCode()).isEqualTo(204);
  }

  @Test
  void othersAreNotBelieved() throws Exception {
    start("10.0.0.0/8", "127.0.0.2");
    assertThat(signIn(secret, "https", "X-Forwarded-Proto", "https").statusCode()).isEqualTo(403);
    HttpResponse<String> answer = signIn(secret, "http", "X-Forwarded-Proto", "https");
    assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow()).startsWith("lifeline-");
  }

  @Test
  void theAddressIsThatWhichTheProxyHasSeen() throws Exception {
    start("127.0.0.1", "10.0.0.0/8");
    for (int i = 0; i < 11; i++) {
      assertThat(signIn("wrong", "http", "X-Forwarded-For", "192.0.2." + i + ", 198.51.100.7, 10.1.1.1").statusCode())
          .isEqualTo(i < 10 ? 401 : 429);
    }
    assertThat(signIn("wrong", "http", "X-Forwarded-For", "198.51.100.7, 198.51.100.8").statusCode()).isEqualTo(401);
    assertThat(signIn("wrong", "http", "X-Forwarded-For", "unknown").statusCode()).isEqualTo(401);
  }

  @Test
  void onlyAddressesAndNetworksAreTrusted() throws Exception {
    start();
    for (String text : List.of("", "localhost", "10.0.0.0/33", "10.0.0.0/", "1.2.3", "::1/129", "/8", "10.0.0.0/-1")) {
      assertThatThrownBy(() -> Proxies.of(List.of(text))).as(text).isInstanceOf(IllegalArgumentException.class);
    }
    Proxies.of(List.of("::1/128", "fd00::/8", "0.0.0.0/0"));
  }
}
