package io.lifeline.jobs.core.config;

/** A setting is wrong. The message names the key, the value and what is allowed, and never holds a secret. */
public final class ConfigException extends RuntimeException {
  public ConfigException(String message) {
    super(message);
  }
}
