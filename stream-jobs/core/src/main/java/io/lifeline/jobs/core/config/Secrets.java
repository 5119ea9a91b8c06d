package io.lifeline.jobs.core.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Masks secrets in output and logs. */
public final class Secrets {

  private static final String MASK = "****";
  private static final Pattern SECRET_KEY =
      Pattern.compile("password|secret|jaas|token|credential|\\.key$|\\.key\\.pem$", Pattern.CASE_INSENSITIVE);
  private static final Pattern FILE_KEY = Pattern.compile("(\\.file|\\.location|\\.tls\\.key)$");
  /** Up to the last @: invalid URLs, such as those with an unescaped password, are shown too. */
  private static final Pattern USER_INFO = Pattern.compile("(?<=://).*@", Pattern.DOTALL);
  private static final Pattern PARAMETER = Pattern.compile("(?<=[?&])([^=&]*)=([^&]*)");

  private Secrets() {}

  /** Returns a setting's value for display. The path of a secret is not masked, the user part of a URL is. */
  public static String mask(String key, String value) {
    if (isSecret(key)) {
      return value.isEmpty() ? value : MASK;
    }
    return maskUrl(value);
  }

  /** Masks user, password and secret parameters such as {@code kafka.sasl.password}. */
  private static String maskUrl(String url) {
    String masked =
        PARAMETER
            .matcher(url)
            .replaceAll(
                parameter ->
                    Matcher.quoteReplacement(
                        parameter.group(1) + "=" + (isSecret(parameter.group(1)) ? MASK : parameter.group(2))));
    return USER_INFO.matcher(masked).replaceAll(MASK + "@");
  }

  private static boolean isSecret(String key) {
    return SECRET_KEY.matcher(key).find() && !FILE_KEY.matcher(key).find();
  }
}
