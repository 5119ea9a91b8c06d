package io.lifeline.console.web;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntUnaryOperator;

/** A web server that webhooks are sent to. */
final class Target implements AutoCloseable {
  static final int HANG = 0;
  private static final ObjectMapper JSON = new ObjectMapper();

  record Request(String signature, String delivery, String contentType, byte[] body, JsonNode json) {}

  final List<Request> requests = new CopyOnWriteArrayList<>();
  private final HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final IntUnaryOperator status;

  /** @param status of the answer to the request with that number, from 0; {@link #HANG} for none */
  Target(IntUnaryOperator status) throws IOException {
    this.status = status;
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  private void handle(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    int code;
    synchronized (this) {
      code = status.applyAsInt(requests.size());
      requests.add(new Request(exchange.getRequestHeaders().getFirst("Lifeline-Signature"),
          exchange.getRequestHeaders().getFirst("Lifeline-Delivery"),
          exchange.getRequestHeaders().getFirst("Content-Type"), body, JSON.readTree(body)));
    }
    if (code != HANG) {
      if (code / 100 == 3) {
        exchange.getResponseHeaders().add("Location", url() + "elsewhere");
      }
      exchange.sendResponseHeaders(code, -1);
      exchange.close();
    }
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
