package io.lifeline.jobs.archive.report;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.IntToLongFunction;

/**
 * A copy with a known bottleneck: the recurrences of four workers with bounded queues between them and a network with
 * bounded buffers, so that every wait follows from the service times alone.
 */
final class CopySimulation {
  static final int BLOCK_BYTES = 256 << 10;
  private static final long CALL_NS = 20_000;
  private static final Incarnation SENDER = new Incarnation(1, 1);
  private static final Incarnation RECEIVER = new Incarnation(2, 2);

  final int blocks;
  int queueBlocks = 8;
  int sendBufferBlocks = 2;
  int receiveBufferBlocks = 4;
  long latencyNs = 50_000;
  long receiverClockSkewNs;
  IntToLongFunction readNs = around(100_000, 1);
  IntToLongFunction networkNs = around(100_000, 2);
  IntToLongFunction writeNs = around(100_000, 3);

  private static final EventType SOCKET =
      EventType.named("net.socket").field("id", FieldType.U64).field("unsent", FieldType.U32, "B")
          .field("unread", FieldType.U32, "B").field("rtt", FieldType.U32, "us").field("retransmits", FieldType.U32)
          .build();
  private static final Operation DISK_READ = new Operation("disk.read");
  private static final Operation NET_SEND = new Operation("net.send");
  private static final Operation NET_RECEIVE = new Operation("net.receive");
  private static final Operation DISK_WRITE = new Operation("disk.write");

  private record Operation(EventType start, EventType end) {
    Operation(String name) {
      this(
          EventType.named(name + ".start").field("id", FieldType.U64).build(),
          EventType.named(name + ".end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build());
    }
  }

  private record Emitted(long timeNs, EventType type, Object[] values) {}

  CopySimulation(int blocks) {
    this.blocks = blocks;
  }

  /** Returns service times that vary by a half around a mean. */
  static IntToLongFunction around(long meanNs, long seed) {
    Random random = new Random(seed);
    return block -> (long) (meanNs * (0.5 + random.nextDouble()));
  }

  /** Writes the copy's events into an archive, as its two programs would. */
  void archive(Path directory) throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      long offset = writer.nextOffset(0);
      for (byte[] batch : batches()) {
        writer.append(Archives.at(offset++), batch);
      }
    }
  }

  /** Returns the batches of its two programs. */
  List<byte[]> batches() {
    List<List<Emitted>> threads = run();
    return List.of(batch(SENDER, threads.subList(0, 2)), batch(RECEIVER, threads.subList(2, 4)));
  }

  private static byte[] batch(Incarnation incarnation, List<List<Emitted>> threads) {
    BatchWriter batch = Archives.batch(incarnation, 1).finalBatch(true);
    for (int thread = 0; thread < threads.size(); thread++) {
      batch.thread(incarnation.low() * 10 + thread);
      List<Emitted> events = threads.get(thread);
      events.sort(Comparator.comparingLong(Emitted::timeNs));
      events.forEach(event -> batch.event(event.type, event.timeNs, event.values));
    }
    return batch.toByteArray();
  }

  private List<List<Emitted>> run() {
    long[] readEnd = new long[blocks];
    long[] sendEnd = new long[blocks];
    long[] wireEnd = new long[blocks];
    long[] receiveEnd = new long[blocks];
    long[] writeEnd = new long[blocks];
    List<List<Emitted>> threads = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < blocks; i++) {
      long readStart = CALL_NS + Math.max(at(readEnd, i - 1), at(sendEnd, i - queueBlocks));
      readEnd[i] = readStart + readNs.applyAsLong(i);
      long sendStart = CALL_NS + Math.max(readEnd[i], at(sendEnd, i - 1));
      long wireStart =
          Math.max(sendStart + CALL_NS, Math.max(at(wireEnd, i - 1), at(receiveEnd, i - receiveBufferBlocks)));
      wireEnd[i] = wireStart + networkNs.applyAsLong(i);
      sendEnd[i] = Math.max(sendStart + CALL_NS, at(wireEnd, i - sendBufferBlocks));
      long receiveStart = CALL_NS + Math.max(wireStart + latencyNs,
          Math.max(at(receiveEnd, i - 1), at(writeEnd, i - queueBlocks)));
      receiveEnd[i] = Math.max(receiveStart + CALL_NS, wireEnd[i] + latencyNs);
      long writeStart = CALL_NS + Math.max(receiveEnd[i], at(writeEnd, i - 1));
      writeEnd[i] = writeStart + writeNs.applyAsLong(i);
      pair(threads.get(0), DISK_READ, i, readStart, readEnd[i]);
      pair(threads.get(1), NET_SEND, i, sendStart, sendEnd[i]);
      pair(threads.get(2), NET_RECEIVE, i, receiveStart + receiverClockSkewNs, receiveEnd[i] + receiverClockSkewNs);
      pair(threads.get(3), DISK_WRITE, i, writeStart + receiverClockSkewNs, writeEnd[i] + receiverClockSkewNs);
    }
    for (int i = 0; i < blocks; i++) {
      threads.get(2).add(socketSample(i, unread(i, wireEnd, receiveEnd[i]), receiveEnd[i] + receiverClockSkewNs));
    }
    return threads;
  }

  private int unread(int block, long[] wireEnd, long now) {
    int next = block + 1;
    while (next < blocks && wireEnd[next] + latencyNs <= now) {
      next++;
    }
    return (next - block - 1) * BLOCK_BYTES;
  }

  private static Emitted socketSample(int id, int unread, long timeNs) {
    return new Emitted(timeNs + 1, SOCKET, new Object[] {id, 0, unread, 100, 0});
  }

  private static void pair(List<Emitted> thread, Operation operation, int id, long start, long end) {
    thread.add(new Emitted(start, operation.start, new Object[] {id}));
    thread.add(new Emitted(end, operation.end, new Object[] {id, BLOCK_BYTES}));
  }

  private static long at(long[] times, int index) {
    return index < 0 ? 0 : times[index];
  }
}
