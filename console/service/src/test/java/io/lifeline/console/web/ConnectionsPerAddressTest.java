package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.Test;

class ConnectionsPerAddressTest {
  private static final int MOST = 3;
  private static final int PATIENCE_MS = 60_000;
  private static final byte[] REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private final AtomicBoolean isLimited = new AtomicBoolean(true);

  private static Socket connect(ServerConnector connector) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort());
  }

  /** Returns whether the server answers on it; else it has closed it. */
  private static boolean isServed(Socket socket) throws IOException {
    socket.setSoTimeout(PATIENCE_MS);
    try {
      socket.getOutputStream().write(REQUEST);
      return socket.getInputStream().read() == 'H';
    } catch (IOException e) {
      return false; // reset
    }
  }

  @Test
  void anAddressHasAFewConnectionsUnlessItIsAProxy() throws Exception {
    Server server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    connector.addBean(new ConnectionsPerAddress(MOST, from -> isLimited.get()));
    server.addConnector(connector);
    server.start();
    List<Socket> open = new ArrayList<>();
    try {
      for (int i = 0; i < MOST + 1; i++) {
        open.add(connect(connector));
        assertThat(isServed(open.get(i))).as("connection " + i).isEqualTo(i < MOST);
      }
      open.get(0).close();
      // The server sees that a moment later.
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
      Socket next = connect(connector);
      while (!isServed(next)) {
        assertThat(System.nanoTime()).as("time").isLessThan(deadline);
        next.close();
        next = connect(connector);
      }
      open.add(next);
      isLimited.set(false);
      open.add(connect(connector));
      assertThat(isServed(open.get(open.size() - 1))).isTrue();
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
      server.stop();
    }
  }
}
