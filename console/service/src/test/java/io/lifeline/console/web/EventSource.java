package io.lifeline.console.web;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A client of a stream of events: a socket, which is read only when a test asks for it. */
final class EventSource implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int SMALL = 4096;
  private static final int PATIENCE_MS = 60_000;

  /** @param id null if it has none */
  record Received(String name, String id, JsonNode data) {}

  final String status;
  private final Socket socket = new Socket();
  private final BufferedReader in;

  EventSource(URI url, String... headers) throws IOException {
    socket.setReceiveBufferSize(SMALL); // or the kernel would read for us
    socket.setSoTimeout(PATIENCE_MS);
    socket.connect(new InetSocketAddress(url.getHost(), url.getPort()));
    StringBuilder request = new StringBuilder("GET " + url.getRawPath()
        + (url.getRawQuery() == null ? "" : "?" + url.getRawQuery()) + " HTTP/1.0\r\nHost: " + url.getAuthority()
        + "\r\nAccept: text/event-stream\r\n");
    for (String header : headers) {
      request.append(header).append("\r\n");
    }
    socket.getOutputStream().write(request.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    status = in.readLine();
    while (!in.readLine().isEmpty()) {
      continue; // headers
    }
  }

  /** Returns the next event, comments left out; null at the end of the stream. */
  Received next() throws IOException {
    String name = null;
    String id = null;
    String data = null;
    String line;
    while ((line = in.readLine()) != null) {
      if (line.isEmpty() && data != null) {
        return new Received(name, id, JSON.readTree(data));
      } else if (line.startsWith("event: ")) {
        name = line.substring("event: ".length());
      } else if (line.startsWith("id: ")) {
        id = line.substring("id: ".length());
      } else if (line.startsWith("data: ")) {
        data = line.substring("data: ".length());
      }
    }
    return null;
  }

  /** Returns the events up to the one that is the last one, which is included. */
  List<Received> until(Predicate<Received> last) throws IOException {
    List<Received> all = new ArrayList<>();
    do {
      Received received = next();
      if (received == null) {
        throw new IOException("the stream ended after " + all.size() + " events");
      }
      all.add(received);
    } while (!last.test(all.get(all.size() - 1)));
    return all;
  }

  /** Returns what is left of an answer that ends. */
  String rest() throws IOException {
    StringBuilder rest = new StringBuilder();
    for (int c = in.read(); c >= 0; c = in.read()) {
      rest.append((char) c);
    }
    return rest.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
