package io.lifeline.console.access;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts failed logins by address, and limits their rate. A valid token is never refused for the failures of others at
 * the same address: guessing 256 bits is hopeless, so the limit only protects log and processor.
 */
final class FailedLogins {
  private static final Logger LOG = LoggerFactory.getLogger(FailedLogins.class);
  static final int MOST = 10;
  static final long WINDOW_MS = 60_000;
  private static final int MOST_ADDRESSES = 10_000;
  private static final int NETWORK_BYTES = 8;

  private final Clock clock;
  private final Map<String, Window> windows = new LinkedHashMap<>() {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Window> eldest) {
      return size() > MOST_ADDRESSES;
    }
  };

  FailedLogins(Clock clock) {
    this.clock = clock;
  }

  private record Window(long began, int failures) {}

  /** Records a failure; returns the refusal with which it is answered. */
  synchronized Refusal failed(String from, String why) {
    long now = clock.millis();
    String network = network(from);
    Window old = windows.get(network);
    int failures = old == null || now - old.began() >= WINDOW_MS ? 1 : Math.min(old.failures() + 1, MOST + 1);
    long began = failures == 1 ? now : old.began();
    windows.put(network, new Window(began, failures));
    if (failures <= MOST) {
      LOG.warn("failed login from {}: {}{}", from, why, failures < MOST ? "" : "; more of them are not logged for now");
      return new Refusal(401, why);
    }
    long wait = (WINDOW_MS - (now - began)) / 1000 + 1;
    return new Refusal(429, "more than " + MOST + " logins from " + from + " failed within a minute: wait " + wait
        + " s, and use a valid token", wait);
  }

  /** One host has all addresses of its IPv6 network. */
  private static String network(String from) {
    try {
      InetAddress address = InetAddress.getByName(from);
      return address instanceof Inet6Address
          ? Arrays.toString(Arrays.copyOf(address.getAddress(), NETWORK_BYTES)) : from;
    } catch (UnknownHostException e) {
      return from;
    }
  }
}
