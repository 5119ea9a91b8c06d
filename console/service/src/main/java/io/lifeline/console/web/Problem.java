package io.lifeline.console.web;

import java.util.LinkedHashMap;
import java.util.Map;

/** An answer that is an error, as {@code application/problem+json} of RFC 9457. */
public final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final Map<Integer, String> TITLES = Map.of(400, "Bad request", 401, "Not signed in",
      403, "Not allowed", 404, "Not found", 405, "Method not allowed", 409, "Conflict", 413, "Too large",
      415, "Unsupported media type", 429, "Too many requests", 503, "Unavailable");

  private final int status;
  private final transient Map<String, Object> more = new LinkedHashMap<>();

  /** @param detail the thing, the cause and the remedy */
  public Problem(int status, String detail) {
    super(detail, null, false, false);
    this.status = status;
  }

  /** Adds a member. */
  public Problem with(String name, Object value) {
    more.put(name, value);
    return this;
  }

  public int status() {
    return status;
  }

  Map<String, Object> body() {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("title", TITLES.getOrDefault(status, "Error"));
    body.put("status", status);
    body.put("detail", getMessage());
    body.putAll(more);
    return body;
  }
}
