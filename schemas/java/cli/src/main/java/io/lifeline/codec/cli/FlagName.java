package io.lifeline.codec.cli;

import io.lifeline.codec.BatchHeader;

/** The flags by the names that the JSON meaning uses, in bit order. */
enum FlagName {
  FINAL(BatchHeader.FINAL),
  RECOVERED(BatchHeader.RECOVERED),
  CLOCK_UNCERTAIN(BatchHeader.CLOCK_UNCERTAIN),
  DERIVED(BatchHeader.DERIVED);

  final int bit;

  FlagName(int bit) {
    this.bit = bit;
  }
}
