package io.lifeline.ksql;

/** What SHOW FUNCTIONS and DESCRIBE FUNCTION say of all functions. */
final class Functions {

  static final String CATEGORY = "LIFELINE";
  static final String AUTHOR = "Lifeline";
  static final String VERSION = "0.1.0";

  private Functions() {}
}
