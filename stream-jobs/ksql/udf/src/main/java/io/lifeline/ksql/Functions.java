package io.lifeline.ksql;

/** Common texts for SHOW FUNCTIONS and DESCRIBE FUNCTION. */
final class Functions {

  static final String CATEGORY = "LIFELINE";
  static final String AUTHOR = "Lifeline";
  static final String VERSION = "0.1.0";

  private Functions() {}
}
