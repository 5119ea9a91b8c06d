package io.lifeline.jobs.core.config;

import java.util.regex.Pattern;

/** Keeps secrets out of what people and logs see. */
public final class Secrets {

  private static final String MASK = "****";
  private static final Pattern SECRET_KEY =
      Pattern.compile("password|secret|jaas|token|credential|\\.key$", Pattern.CASE_INSENSITIVE);
  private static final Pattern FILE_KEY = Pattern.compile("(\\.file|\\.location|\\.tls\\.key)$");
  private static final Pattern USER_INFO = Pattern.compile("(?<=://|,)[^/@,?]*@");

  private Secrets() {}

  /** The setting's value as it may be shown. A path of a secret is no secret, the user part of a URL is. */
  public static String mask(String key, String value) {
    if (SECRET_KEY.matcher(key).find() && !FILE_KEY.matcher(key).find()) {
      return value.isEmpty() ? value : MASK;
    }
    return maskUrl(value);
  }

  /** The URL without user and password. */
  public static String maskUrl(String url) {
    return USER_INFO.matcher(url).replaceAll(MASK + "@");
  }
}
