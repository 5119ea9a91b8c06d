package io.lifeline.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.Metrics;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("system")
@Timeout(120)
class HealthServerTest {

  private final CountDownLatch broker = new CountDownLatch(1);

  private final JobHost host =
      new JobHost() {
        @Override
        public void start() {}

        /** As if a broker did not answer. */
        @Override
        public Map<String, String> health() {
          try {
            broker.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return Map.of("ledger", "running");
        }

        @Override
        public CompletionStage<Throwable> failure() {
          return new CompletableFuture<>();
        }

        @Override
        public void close() {}
      };

  private static HttpResponse<String> get(HealthServer server, String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + path)).timeout(Duration.ofSeconds(60)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void clientsThatSayNothingOrHalfAndABrokerThatIsAwayKeepNobodyWaiting() throws Exception {
    List<Socket> idle = new ArrayList<>();
    try (HealthServer server = HealthServer.start("127.0.0.1:0", host, new Metrics())) {
      URI url = URI.create(server.url());
      for (int i = 0; i < 8; i++) {
        Socket socket = new Socket(url.getHost(), url.getPort());
        socket.getOutputStream().write((i % 2 == 0 ? "" : "GET /met").getBytes(StandardCharsets.US_ASCII));
        idle.add(socket);
      }
      var health = HttpClient.newHttpClient().sendAsync(
          HttpRequest.newBuilder(URI.create(server.url() + "/health")).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(get(server, "/metrics").statusCode()).isEqualTo(200);
      broker.countDown();
      assertThat(health.get().statusCode()).isEqualTo(200);
      InputStream half = idle.get(1).getInputStream();
      assertThat(half.read()).as("is let go").isEqualTo(-1);
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }
}
