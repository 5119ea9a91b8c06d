package io.lifeline.console.web;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.util.Set;
import org.eclipse.jetty.server.ServerConnector;

/**
 * The socket of the console. It is opened first, so that a port that is in use is an error at once, and the page's
 * address is known; connections wait until the {@link Server} starts.
 */
public final class Listener implements Closeable {
  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "::");
  private static final int WAITING = 128;

  private final Server.Address address;
  private final ServerSocketChannel channel;
  private final int port;

  private Listener(Server.Address address, ServerSocketChannel channel) throws IOException {
    this.address = address;
    this.channel = channel;
    this.port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
  }

  public static Listener open(Server.Address address) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open();
    try {
      InetSocketAddress place = new InetSocketAddress(address.host(), address.port());
      if (place.isUnresolved()) {
        throw new UnknownHostException("there is no such host");
      }
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(place, WAITING);
      return new Listener(address, channel);
    } catch (IOException e) {
      channel.close();
      throw new IOException("cannot listen on " + address.host() + ":" + address.port() + ": " + e.getMessage()
          + "; choose another --listen", e);
    }
  }

  Server.Address address() {
    return address;
  }

  void handTo(ServerConnector connector) throws IOException {
    connector.open(channel);
  }

  /** Returns the page's address. */
  public String url() {
    String host = WILDCARDS.contains(address.host()) ? ownName(address.host()) : address.host();
    String name = host.contains(":") ? "[" + host + "]" : host;
    return (address.tls() == null ? "http" : "https") + "://" + name + ":" + port + "/";
  }

  private static String ownName(String fallback) {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return fallback;
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
