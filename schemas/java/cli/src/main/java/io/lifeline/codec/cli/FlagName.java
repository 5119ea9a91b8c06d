package io.lifeline.codec.cli;

import io.lifeline.codec.BatchHeader;

/** The flags, named as in the JSON meaning, in bit order. */
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
