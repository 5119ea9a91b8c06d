package io.lifeline.jobs.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.Metrics;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Answers {@code GET /health} (200 while healthy, else 503) and {@code GET /metrics} (Prometheus text).
 *
 * <p>Each client has its own thread and a limit of ten seconds, so an idle client cannot block others.
 */
final class HealthServer implements AutoCloseable {

  private static final Set<String> WELL = Set.of("running", "standby");

  private static final int CLIENTS = 16;
  private static final String CLIENT_S = "10";

  static {
    // The first server created reads these properties; the interval of the checks is in milliseconds.
    System.setProperty("sun.net.httpserver.maxReqTime", CLIENT_S);
    System.setProperty("sun.net.httpserver.maxRspTime", CLIENT_S);
  }

  private final HttpServer server;
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS, HealthServer::thread);
  private final JobHost host;
  private final Metrics metrics;

  private HealthServer(HttpServer server, JobHost host, Metrics metrics) {
    this.server = server;
    this.host = host;
    this.metrics = metrics;
  }

  /** @param listen {@code host:port}; port 0 selects a free one */
  static HealthServer start(String listen, JobHost host, Metrics metrics) throws HostException {
    int colon = listen.lastIndexOf(':');
    String address = listen.substring(0, colon).replaceAll("[\\[\\]]", "");
    try {
      InetSocketAddress socket = new InetSocketAddress(address, Integer.parseInt(listen.substring(colon + 1)));
      HealthServer health = new HealthServer(HttpServer.create(socket, 0), host, metrics);
      health.server.createContext("/health", health::health);
      health.server.createContext("/metrics", health::metrics);
      health.server.setExecutor(health.clients);
      health.server.start();
      return health;
    } catch (IOException | IllegalArgumentException e) {
      throw new HostException("cannot listen on health.listen=" + listen + ": " + e.getMessage(), e);
    }
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "lifeline-health");
    thread.setDaemon(true);
    return thread;
  }

  String url() {
    InetSocketAddress address = server.getAddress();
    String name = address.getAddress().getHostAddress();
    return "http://" + (name.contains(":") ? "[" + name + "]" : name) + ":" + address.getPort();
  }

  private void health(HttpExchange exchange) throws IOException {
    Map<String, String> parts = host.health();
    boolean well = WELL.containsAll(parts.values()) && !host.failure().toCompletableFuture().isDone();
    JsonWriter json = new JsonWriter().beginObject().field("status", well ? "ok" : "failing");
    json.name("parts").beginObject();
    parts.forEach(json::field);
    answer(exchange, well ? 200 : 503, "application/json", json.endObject().endObject().toBytes());
  }

  private void metrics(HttpExchange exchange) throws IOException {
    answer(exchange, 200, "text/plain; version=0.0.4", metrics.text().getBytes(StandardCharsets.UTF_8));
  }

  private static void answer(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
    try (exchange) {
      boolean isGet = exchange.getRequestMethod().equals("GET");
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(isGet ? status : 405, isGet ? body.length : -1);
      if (isGet) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
    clients.shutdownNow();
  }
}
