package io.lifeline.console.web;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.io.Connection;

/** Closes connections of an address that has many: each takes a descriptor of the console, before anybody logs in. */
final class ConnectionsPerAddress implements Connection.Listener {
  private static final int MOST = 200;

  private final Map<InetAddress, Integer> open = new ConcurrentHashMap<>();

  @Override
  public void onOpened(Connection connection) {
    InetAddress from = from(connection);
    if (from != null && !from.isLoopbackAddress() && open.merge(from, 1, Integer::sum) > MOST) {
      connection.getEndPoint().close();
    }
  }

  @Override
  public void onClosed(Connection connection) {
    InetAddress from = from(connection);
    if (from != null) {
      open.computeIfPresent(from, (address, number) -> number == 1 ? null : number - 1);
    }
  }

  private static InetAddress from(Connection connection) {
    return connection.getEndPoint().getRemoteSocketAddress() instanceof InetSocketAddress remote ? remote.getAddress()
        : null;
  }
}
