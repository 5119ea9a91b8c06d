package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.access.MovableClock;
import io.lifeline.console.access.Tokens;
import io.lifeline.jobs.core.Metrics;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sends bodies that do not end, without a login, as somebody would who wants to shut others out. */
class BodiesTest {
  private static final int CONNECTIONS = 300;

  @TempDir Path directory;

  private Server start(long bodyMs) throws IOException {
    Access access = Access.withLogin(new Tokens(directory.resolve("tokens.json"), new MovableClock()), null,
        new MovableClock());
    return Server.start(Listener.open(new Server.Address("127.0.0.1", 0, null)),
        Routes.of(new AccessOperations(access)), new Metrics(), access, Audit.none(), 60_000, bodyMs);
  }

  private static Socket slow(Server server) throws IOException {
    int port = URI.create(server.url()).getPort();
    Socket socket = new Socket("127.0.0.1", port);
    socket.setSoTimeout(60_000);
    socket.getOutputStream().write(("POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nContent-Type:"
        + " application/json\r\nContent-Length: 1000\r\n\r\n{").getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private static int ask(Server server, HttpRequest.Builder request) throws Exception {
    return HttpClient.newHttpClient().send(request.header("Content-Type", "application/json").build(),
        BodyHandlers.ofString()).statusCode();
  }

  @Test
  void bodiesThatDoNotEndKeepNobodyOut() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try (Server server = start(600_000)) {
      for (int i = 0; i < CONNECTIONS; i++) {
        sockets.add(slow(server));
      }
      URI url = URI.create(server.url()).resolve("/api/v1/tokens");
      assertThat(ask(server, HttpRequest.newBuilder(url))).isEqualTo(401);
      int refused = 0;
      for (Socket socket : sockets.subList(100, CONNECTIONS)) {
        refused += new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII).endsWith("429") ? 1 : 0;
        if (refused == 100) {
          break;
        }
      }
      assertThat(refused).isEqualTo(100);
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  void aSlowBodyEndsItsConnectionAlthoughBytesKeepComing() throws Exception {
    try (Server server = start(300); Socket socket = slow(server)) {
      socket.setSoTimeout(50);
      boolean isOpen = true;
      for (int i = 0; isOpen && i < 1_000; i++) {
        try {
          socket.getOutputStream().write(' ');
          isOpen = socket.getInputStream().read() >= 0 && i < 900;
        } catch (SocketTimeoutException e) {
          isOpen = true;
        } catch (IOException e) {
          isOpen = false;
        }
      }
      assertThat(isOpen).isFalse();
    }
  }

  @Test
  void aBodyWithoutALoginIsSmall() throws Exception {
    try (Server server = start(60_000)) {
      URI url = URI.create(server.url()).resolve("/api/v1/session");
      assertThat(ask(server, HttpRequest.newBuilder(url)
          .POST(BodyPublishers.ofString("{\"token\": \"" + "x".repeat(5_000) + "\"}")))).isEqualTo(413);
    }
  }
}
