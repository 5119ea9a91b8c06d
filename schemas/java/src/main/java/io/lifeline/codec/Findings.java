package io.lifeline.codec;

/**
 * Collects the faults of one batch. FORMAT requires reporting the first row of its table that applies, in whichever
 * section it is found; sections are parsed once, in their own order, so this keeps the fault of the first row.
 */
final class Findings {
  private Fault first;
  private int offset;
  private String message;
  private int count;

  void clear() {
    first = null;
    count = 0;
  }

  void report(Fault fault, int at, String sentence) {
    count++;
    if (first == null || fault.compareTo(first) < 0) {
      first = fault;
      offset = at;
      message = sentence;
    }
  }

  /** Returns the number of faults reported so far. */
  int count() {
    return count;
  }

  void rejectIfAny() throws RejectedBatchException {
    if (first != null) {
      throw new RejectedBatchException(first.code, offset, message);
    }
  }

  /** Reports a fault after which nothing more can be read. */
  void reject(Fault fault, int at, String sentence) throws RejectedBatchException {
    report(fault, at, sentence);
    rejectIfAny();
  }
}
