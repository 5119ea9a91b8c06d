package io.lifeline.jobs.core.config;

/** Thrown for an invalid setting. The message names key, value and allowed values, and never contains a secret. */
public final class ConfigException extends RuntimeException {
  public ConfigException(String message) {
    super(message);
  }
}
