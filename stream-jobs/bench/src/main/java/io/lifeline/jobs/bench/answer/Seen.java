package io.lifeline.jobs.bench.answer;

import java.time.Instant;
import java.util.stream.IntStream;

/** When the answer to each of some numbered events was read first. Used by one thread at a time. */
final class Seen {
  private final long first;
  private final long[] atNs;
  private int count;

  Seen(long first, long last) {
    this.first = first;
    this.atNs = new long[Math.toIntExact(last - first + 1)];
  }

  /** Notes that an answer has been read now, unless there was one before. */
  void add(long serial) {
    long place = serial - first;
    if (place >= 0 && place < atNs.length && atNs[(int) place] == 0) {
      Instant now = Instant.now();
      atNs[(int) place] = now.getEpochSecond() * 1_000_000_000 + now.getNano();
      count++;
    }
  }

  boolean isComplete() {
    return count == atNs.length;
  }

  int missing() {
    return atNs.length - count;
  }

  /** Returns the seconds from each event, at a time in nanoseconds since 1970, to its answer. */
  double[] since(long[] eventsNs) {
    return IntStream.range(0, atNs.length).mapToDouble(place -> (atNs[place] - eventsNs[place]) / 1e9).toArray();
  }
}
