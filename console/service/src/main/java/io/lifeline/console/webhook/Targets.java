package io.lifeline.console.webhook;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The hosts that webhooks may be sent to: all with public addresses, and those that the operator names. The console can
 * reach addresses that a caller cannot, such as the metadata service of a cloud's machine.
 */
public final class Targets {
  private static final int LENGTH_OF_4 = 4;

  private final Set<String> named;

  /** @param named hosts whose addresses need not be public, as they are in URLs; {@code *} for all */
  public Targets(Set<String> named) {
    this.named = named.stream().map(Targets::bare).collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Checks the host of a URL by all addresses that its name has now; the names of hosts change, so this is also checked
   * before each request.
   *
   * @return why nothing is sent there; null if it may be, or if the name is unknown at the moment
   */
  String refusal(URI url) {
    String host = bare(url.getHost());
    if (named.contains("*") || named.contains(host)) {
      return null;
    }
    try {
      for (InetAddress address : InetAddress.getAllByName(host)) {
        if (!isPublic(address)) {
          return "the host " + host + " has the address " + address.getHostAddress() + ", which is not a public one: an"
              + " operator can allow it with --webhook-hosts " + host;
        }
      }
    } catch (UnknownHostException e) {
      return null;
    }
    return null;
  }

  private static String bare(String host) {
    return host.replaceAll("[\\[\\]]", "").toLowerCase(Locale.ROOT);
  }

  static boolean isPublic(InetAddress address) {
    if (address.isAnyLocalAddress() || address.isLoopbackAddress() || address.isLinkLocalAddress()
        || address.isSiteLocalAddress() || address.isMulticastAddress()) {
      return false;
    }
    byte[] bytes = address.getAddress();
    return address instanceof Inet4Address ? isPublic4(bytes) : isPublic6((Inet6Address) address, bytes);
  }

  private static boolean isPublic4(byte[] bytes) {
    int first = bytes[0] & 0xff;
    int second = bytes[1] & 0xff;
    boolean isShared = first == 100 && second >> 6 == 1; // 100.64.0.0/10
    boolean isSpecial = first == 192 && second == 0 && bytes[2] == 0 || first == 198 && second >> 1 == 9;
    return first != 0 && first < 240 && !isShared && !isSpecial;
  }

  private static boolean isPublic6(Inet6Address address, byte[] bytes) {
    boolean isUnique = (bytes[0] & 0xfe) == 0xfc; // fc00::/7
    boolean isTranslated = bytes[0] == 0 && bytes[1] == 0x64; // 64:ff9b::/96 has an IPv4 address at its end
    boolean is6to4 = bytes[0] == 0x20 && bytes[1] == 2; // 2002::/16 has one behind the prefix
    if (isTranslated) {
      return isPublicIn(bytes, bytes.length - LENGTH_OF_4);
    }
    return !isUnique && !address.isIPv4CompatibleAddress() && (!is6to4 || isPublicIn(bytes, 2));
  }

  private static boolean isPublicIn(byte[] bytes, int from) {
    try {
      return isPublic(InetAddress.getByAddress(Arrays.copyOfRange(bytes, from, from + LENGTH_OF_4)));
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
