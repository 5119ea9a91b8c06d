package io.lifeline.console.web;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.SocketChannelEndPoint;

/** Closes connections of an address that has many: each takes a descriptor of the console, before anybody logs in. */
final class ConnectionsPerAddress implements Connection.Listener {
  static final int MOST = 200;

  private final int most;
  private final Predicate<InetAddress> isLimited;
  private final Map<InetAddress, Integer> open = new ConcurrentHashMap<>();
  private final Map<Connection, InetAddress> counted = new ConcurrentHashMap<>();

  /** @param isLimited whether an address stands for one client, and not for the clients of a proxy */
  ConnectionsPerAddress(int most, Predicate<InetAddress> isLimited) {
    this.most = most;
    this.isLimited = isLimited;
  }

  @Override
  public void onOpened(Connection connection) {
    InetAddress from = from(connection);
    if (from != null && isLimited.test(from)) {
      counted.put(connection, from);
      if (open.merge(from, 1, Integer::sum) > most) {
        connection.getEndPoint().close();
      }
    }
  }

  @Override
  public void onClosed(Connection connection) {
    InetAddress from = counted.remove(connection); // a closed socket has no address
    if (from != null) {
      open.computeIfPresent(from, (address, number) -> number == 1 ? null : number - 1);
    }
  }

  /** Returns null for a connection within another one: that of HTTP in that of TLS. */
  private static InetAddress from(Connection connection) {
    return connection.getEndPoint() instanceof SocketChannelEndPoint socket
        && socket.getRemoteSocketAddress() instanceof InetSocketAddress remote ? remote.getAddress() : null;
  }
}
