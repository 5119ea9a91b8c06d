package io.lifeline.console.webhook;

import io.lifeline.console.events.EventFilter;
import java.net.URI;

/**
 * What is sent to a URL.
 *
 * @param type pattern of event types; null for no events
 * @param program pattern; null for all
 * @param host pattern; null for all
 * @param where condition in CEL; null for none
 * @param alerts whether alerts are sent
 * @param secret key of the signatures
 */
public record Webhook(String id, String url, String type, String program, String host, String where, boolean alerts,
    String secret) {
  private static final int LONGEST_URL = 2000;
  private static final int LONGEST_TEXT = 1000;
  private static final int SHORTEST_SECRET = 8;
  private static final int LONGEST_SECRET = 200;

  /** @throws IllegalArgumentException with the reason */
  public Webhook {
    checkUrl(url);
    check("type", type);
    check("program", program);
    check("host", host);
    check("where", where);
    if (type == null && !alerts) {
      throw new IllegalArgumentException(
          "type is missing: give a pattern of event types, such as disk.*, or alerts: true");
    }
    if (secret.length() < SHORTEST_SECRET || secret.length() > LONGEST_SECRET) {
      throw new IllegalArgumentException(
          "secret must have " + SHORTEST_SECRET + " to " + LONGEST_SECRET + " characters");
    }
    filterOf(type, program, host, where);
  }

  /** Returns a URL without what may be a secret in it: many services have one in the path. */
  public static String shown(String url) {
    return url.replaceFirst("^([^/?#]*//[^/?#]*+/?+).+$", "$1...");
  }

  /** Returns what selects its events; null if it gets none. */
  EventFilter filter() {
    return type == null ? null : filterOf(type, program, host, where);
  }

  private static EventFilter filterOf(String type, String program, String host, String where) {
    try {
      return EventFilter.of(type, program, host, where);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("where is not a condition: " + e.getMessage(), e);
    }
  }

  private static void checkUrl(String url) {
    if (url == null || url.length() > LONGEST_URL) {
      throw new IllegalArgumentException("url is missing, or longer than " + LONGEST_URL + " characters");
    }
    URI uri;
    try {
      uri = URI.create(url);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("url is none: " + e.getMessage(), e);
    }
    String scheme = uri.getScheme();
    if (!"http".equalsIgnoreCase(scheme) && !"https".equalsIgnoreCase(scheme) || uri.getHost() == null) {
      throw new IllegalArgumentException("url must begin with http:// or https:// and a host");
    }
    if (uri.getUserInfo() != null) {
      throw new IllegalArgumentException(
          "url must not hold a user or password, since it is shown: check signatures instead");
    }
  }

  private static void check(String name, String text) {
    if (text != null && text.length() > LONGEST_TEXT) {
      throw new IllegalArgumentException(name + " must be at most " + LONGEST_TEXT + " characters");
    }
  }
}
