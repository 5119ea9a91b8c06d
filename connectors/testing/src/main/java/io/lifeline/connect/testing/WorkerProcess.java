package io.lifeline.connect.testing;

import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A Connect worker in distributed mode in a process of its own, by Kafka's own command class, so that it can be killed.
 */
public final class WorkerProcess implements AutoCloseable {

  private static final long STOP_TIME_S = 30;
  private static final int CONFLICT = 409;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Process process;
  private final String url;

  private WorkerProcess(Process process, String url) {
    this.process = process;
    this.url = url;
  }

  /**
   * Starts a worker; it is not ready yet.
   *
   * @param folder for its configuration and its log
   * @param pluginPath folder with a folder for each plugin
   * @param plugins what of this test's class path the worker may find there only
   */
  public static WorkerProcess start(
      Path folder, Path pluginPath, Pattern plugins, String bootstrapServers, Map<String, String> settings)
      throws IOException {
    Files.createDirectories(folder);
    int port = freePort();
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrapServers);
    properties.put("group.id", "workers");
    properties.put("listeners", "http://127.0.0.1:" + port);
    properties.put("plugin.path", pluginPath.toString());
    properties.put("plugin.discovery", "service_load");
    for (String topic : List.of("config", "offset", "status")) {
      properties.put(topic + ".storage.topic", "workers-" + topic);
      properties.put(topic + ".storage.replication.factor", "1");
    }
    properties.put("offset.storage.partitions", "1");
    properties.put("status.storage.partitions", "1");
    properties.put("key.converter", "org.apache.kafka.connect.converters.ByteArrayConverter");
    properties.put("value.converter", "org.apache.kafka.connect.converters.ByteArrayConverter");
    properties.put("header.converter", "org.apache.kafka.connect.storage.StringConverter");
    properties.putAll(settings);
    Path file = folder.resolve("worker.properties");
    try (Writer writer = Files.newBufferedWriter(file)) {
      properties.store(writer, null);
    }
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx384m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                PluginFolder.classPathWithout(plugins),
                "org.apache.kafka.connect.cli.ConnectDistributed",
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("worker.log").toFile())
            .start();
    return new WorkerProcess(process, "http://127.0.0.1:" + port);
  }

  /**
   * The worker binds it many seconds later, so it is none that the kernel gives out. If the runner of tests has given
   * this stage ports of its own (LIFELINE_TEST_PORTS=FIRST-LAST), it is one of those.
   */
  private static int freePort() {
    String ports = Objects.requireNonNullElse(System.getenv("LIFELINE_TEST_PORTS"), "10000-32767");
    String[] range = ports.split("-");
    while (true) {
      int port =
          ThreadLocalRandom.current().nextInt(Integer.parseInt(range[0]), Integer.parseInt(range[1]) + 1);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // in use
      }
    }
  }

  /** Answer to a request of Connect's REST interface, or the empty string while the worker does not answer. */
  public String get(String path) throws InterruptedException {
    try {
      return send(HttpRequest.newBuilder(URI.create(url + path)).GET()).body();
    } catch (IOException e) {
      return "";
    }
  }

  /** Answer to a request with a JSON body, retried during rebalances. */
  public String put(String path, String json) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", "application/json")
            .PUT(HttpRequest.BodyPublishers.ofString(json));
    HttpResponse<String> answer = send(request);
    while (answer.statusCode() == CONFLICT) {
      Thread.sleep(200);
      answer = send(request);
    }
    return answer.body();
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    if (!process.isAlive()) {
      throw new IllegalStateException("the worker has ended: its log is in its folder");
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** The worker's id in REST. */
  public String id() {
    return url.substring("http://".length());
  }

  /** Kills the worker (SIGKILL). */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Stops the worker, by force after a timeout: Kafka's REST server sometimes hangs at shutdown. */
  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(STOP_TIME_S, TimeUnit.SECONDS)) {
      kill();
    }
  }
}
