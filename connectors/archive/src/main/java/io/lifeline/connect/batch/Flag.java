package io.lifeline.connect.batch;

import io.lifeline.codec.BatchHeader;

/** The flags of a batch by their names in FORMAT section 3.1, in the order of their bits. */
enum Flag {
  FINAL(BatchHeader.FINAL),
  RECOVERED(BatchHeader.RECOVERED),
  CLOCK_UNCERTAIN(BatchHeader.CLOCK_UNCERTAIN),
  DERIVED(BatchHeader.DERIVED);

  final int bit;

  Flag(int bit) {
    this.bit = bit;
  }
}
