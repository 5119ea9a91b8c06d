package io.lifeline.console.web;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;

/**
 * Proxies whose word counts for how a request reached them: by {@code Forwarded}, or by {@code X-Forwarded-Proto} and
 * {@code X-Forwarded-For}. Of a list the last entry counts that is no proxy itself: a client may have sent the others.
 */
public final class Proxies implements HttpConfiguration.Customizer {
  public static final Proxies NONE = new Proxies(List.of());
  private static final Pattern FORWARDED =
      Pattern.compile("(?i)\\b(for|proto)=(?:\"([^\"]*)\"|([^;,\\s]*))");
  private static final Pattern ADDRESS = Pattern.compile("[0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

  private final List<Network> networks;

  private record Network(byte[] address, int bits) {
    boolean contains(byte[] other) {
      if (other.length != address.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        if (((address[bit / 8] ^ other[bit / 8]) >> 7 - bit % 8 & 1) != 0) {
          return false;
        }
      }
      return true;
    }
  }

  private Proxies(List<Network> networks) {
    this.networks = networks;
  }

  /**
   * Trusts these.
   *
   * @param texts addresses, or networks such as 10.0.0.0/8
   * @throws IllegalArgumentException if one is neither
   */
  public static Proxies of(List<String> texts) {
    List<Network> networks = new ArrayList<>();
    for (String text : texts) {
      int slash = text.indexOf('/');
      InetAddress address = address(slash < 0 ? text : text.substring(0, slash));
      String bits = slash < 0 ? "" : text.substring(slash + 1);
      int most = address == null ? 0 : address.getAddress().length * 8;
      if (address == null || slash >= 0 && !(bits.matches("[0-9]{1,3}") && Integer.parseInt(bits) <= most)) {
        throw new IllegalArgumentException("'" + text + "' is neither an address nor a network such as 10.0.0.0/8");
      }
      networks.add(new Network(address.getAddress(), slash < 0 ? most : Integer.parseInt(bits)));
    }
    return new Proxies(networks);
  }

  @Override
  public Request customize(Request request, HttpFields.Mutable answer) {
    if (!(request.getConnectionMetaData().getRemoteSocketAddress() instanceof InetSocketAddress remote)
        || !trusts(remote.getAddress())) {
      return request;
    }
    List<String> protocols = new ArrayList<>();
    List<String> clients = new ArrayList<>();
    for (String value : request.getHeaders().getValuesList("Forwarded")) {
      for (Matcher found = FORWARDED.matcher(value); found.find(); ) {
        (found.group(1).equalsIgnoreCase("for") ? clients : protocols)
            .add(found.group(2) != null ? found.group(2) : found.group(3));
      }
    }
    if (protocols.isEmpty() && clients.isEmpty()) {
      protocols.addAll(request.getHeaders().getCSV("X-Forwarded-Proto", false));
      clients.addAll(request.getHeaders().getCSV("X-Forwarded-For", false));
    }
    boolean isSecure = !protocols.isEmpty()
        && protocols.get(protocols.size() - 1).toLowerCase(Locale.ROOT).equals("https");
    return new Forwarded(request, isSecure, client(clients, remote));
  }

  private InetSocketAddress client(List<String> clients, InetSocketAddress remote) {
    for (int i = clients.size() - 1; i >= 0; i--) {
      InetAddress client = address(clients.get(i).strip().replaceFirst("^\\[(.*)](:[0-9]+)?$", "$1")
          .replaceFirst("^([0-9.]+):[0-9]+$", "$1"));
      if (client == null) {
        return remote; // unknown, or hidden
      }
      if (!trusts(client)) {
        return new InetSocketAddress(client, 0);
      }
    }
    return remote;
  }

  boolean trusts(InetAddress address) {
    return address != null && networks.stream().anyMatch(network -> network.contains(address.getAddress()));
  }

  /** Returns null for what is no address; names are not looked up. */
  private static InetAddress address(String text) {
    try {
      return ADDRESS.matcher(text).matches() ? InetAddress.getByName(text) : null;
    } catch (UnknownHostException e) {
      return null;
    }
  }

  /** A request as it reached the proxy. */
  private static final class Forwarded extends Request.Wrapper {
    private final HttpURI uri;
    private final boolean isSecure;
    private final ConnectionMetaData connection;

    Forwarded(Request request, boolean isSecure, SocketAddress client) {
      super(request);
      this.isSecure = isSecure;
      this.uri = HttpURI.build(request.getHttpURI()).scheme(isSecure ? "https" : "http").asImmutable();
      this.connection = new ConnectionMetaData.Wrapper(request.getConnectionMetaData()) {
        @Override
        public boolean isSecure() {
          return isSecure;
        }

        @Override
        public SocketAddress getRemoteSocketAddress() {
          return client;
        }
      };
    }

    @Override
    public HttpURI getHttpURI() {
      return uri;
    }

    @Override
    public boolean isSecure() {
      return isSecure;
    }

    @Override
    public ConnectionMetaData getConnectionMetaData() {
      return connection;
    }
  }
}
