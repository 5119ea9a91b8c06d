package io.lifeline.jobs.archive;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.Deduplicator;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RetentionClock;
import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * Writes one partition into an archive: validates messages, absorbs duplicates, and tracks the offsets covered by
 * buffered data. Implementations buffer events and store them. Used by one thread.
 */
public abstract class PartitionWriter {
  /** Begins the text that replaces a refusal, see {@link #accepted}. */
  private static final String ACCEPTED = "accepted: the loss of messages before offset ";

  /** Maximum number of late batches remembered, and compared with the archive at once. */
  private static final int MAX_LATE = 10_000;

  /** Number of routes below which opening an archive settles none. */
  private static final int MIN_IN_MEMORY = 1_000;

  private final int partition;
  private final RollOptions options;
  private final ArchiveFeed feed;
  private final MemoryState checksums = new MemoryState();
  private final Deduplicator deduplicator;
  private final RetentionClock clock = new RetentionClock(new MemoryState(), System::nanoTime);
  private final Deque<LateBatch> late = new ArrayDeque<>();
  private final Deque<ArchiveFeed.Stored> underWay = new ArrayDeque<>();
  private final BatchReader reader = new BatchReader();
  private int keptInMemory = MIN_IN_MEMORY;
  private String source;
  private boolean isLossAccepted;
  private long found;
  private Long foundMessage;
  private byte[] lastMessage;
  private long stored;
  private long storedNs = System.nanoTime();
  private boolean isStoring;
  private boolean isStoringLazily;
  private long from;
  private long to;
  private long batches;
  private long events;
  private long duplicates;
  private long rejected;
  private long firstAppendNs;
  private long newestArchivedMs;

  protected PartitionWriter(int partition, RollOptions options, ArchiveFeed feed) {
    this.partition = partition;
    this.options = options;
    this.feed = feed;
    this.deduplicator = new Deduplicator(checksums, options.remembered().toMillis());
  }

  /** Adds the sequences of a route that the archive already holds. */
  protected final void remember(RouteEntry route) {
    newestArchivedMs = Math.max(newestArchivedMs, route.lastBrokerTimeMs());
    route.forEachRun((first, last) -> deduplicator.seen(route.key(), first, last, route.lastBrokerTimeMs()));
    if (route.finalBatch()) {
      deduplicator.ends(route.key(), Long.parseUnsignedLong(route.lastSequence()));
    }
    if (deduplicator.inMemory() >= 2 * keptInMemory) {
      deduplicator.settle();
      keptInMemory = Math.max(MIN_IN_MEMORY, deduplicator.inMemory());
    }
  }

  /**
   * Sets the archive's end.
   *
   * @param in identity of the source that the offset belongs to, see {@link ArchiveFeed#source}; null if unknown
   * @param message checksum of the message before it; null if unknown
   */
  protected final void startAt(long offset, String in, Long message) {
    source = in;
    found = offset;
    foundMessage = message;
    stored = offset;
    from = offset;
    to = offset;
  }

  /**
   * Reports what the archive says about its end, after {@link #startAt}.
   *
   * @param refusal text given to {@link #storeRefusal}, or {@link #accepted}; null if there is none
   */
  protected final void checkRefusal(String refusal) throws ArchiveException {
    if (accepted(to).equals(refusal)) {
      isLossAccepted = true;
      source = null;
      foundMessage = null;
    } else if (refusal != null && !refusal.startsWith(ACCEPTED)) {
      throw refused(refusal);
    }
  }

  /** Returns the text that replaces a refusal when the operator accepts that messages are lost at this end. */
  public static String accepted(long offset) {
    return ACCEPTED + offset;
  }

  /** Returns whether the text of {@link #checkRefusal} stops the partition. */
  public static boolean isRefusal(String text) {
    return text != null && !text.startsWith(ACCEPTED);
  }

  /** Stores durably why the partition is not written any more; {@link #checkRefusal} finds it at each opening. */
  protected abstract void storeRefusal(String why) throws IOException;

  /** Returns the identity of the offsets' source; null if unknown. */
  protected final String source() {
    return source;
  }

  /** Returns the checksum of the message before {@link #to}; null if there is none or it is unknown. */
  protected final Long lastMessage() {
    return lastMessage == null ? to == found ? foundMessage : null : (Long) checksum(lastMessage);
  }

  /** Uses CRC-32, not CRC-32C: a batch ends with its own CRC-32C, so that of every intact batch would be the same. */
  private static long checksum(byte[] message) {
    CRC32 crc = new CRC32();
    crc.update(message);
    return crc.getValue();
  }

  /** Returns the first offset that the buffered data covers. */
  protected final long from() {
    return from;
  }

  /** Returns the first offset after the buffered data. */
  protected final long to() {
    return to;
  }

  /** Returns the number of duplicates absorbed in the buffered data. */
  protected final long duplicates() {
    return duplicates;
  }

  /** Returns the number of messages rejected between {@link #from} and {@link #to}. */
  protected final long rejected() {
    return rejected;
  }

  /**
   * Prepares for the types of a batch before the batch is processed. If this fails, the message is not appended.
   *
   * @return why the archive can never store the batch; null if it can
   */
  protected String prepare(BatchReader batch) throws IOException {
    return null;
  }

  /** Buffers the events of a new batch. The arguments are valid only during this call. */
  protected abstract void collect(BatchReader batch, ColumnarBatch events, RouteKey route, Position position);

  /** Stores the buffered data and the position {@link #to} atomically, then empties the buffer. */
  protected abstract void store() throws IOException;

  /**
   * As {@link #store}, but may return before it is done: then {@link #finishStoring} reports the outcome. The default
   * implementation stores synchronously. After a failure everything is still buffered.
   *
   * @param lazily whether a crash may lose the data, together with all that is stored later: the next {@link #store},
   *     even of an empty buffer, makes it durable
   */
  protected void startStoring(boolean lazily) throws IOException {
    store();
  }

  /** Waits for the storing in progress. After a failure its data is kept, and the next call retries. */
  protected void finishStoring() throws IOException {
    // The default implementation has stored everything already.
  }

  /**
   * Returns until when, as {@link System#nanoTime}, some of the work of storing has been put off; null if none has.
   * {@link #store} does it if nothing is buffered.
   */
  protected Long putOffUntil() {
    return null;
  }

  /** Returns the memory used by buffered events, in bytes. */
  protected abstract long collectedBytes();

  /** Returns the memory used by events being stored in the background, in bytes. */
  protected long storingBytes() {
    return 0;
  }

  /** Reports the archived checksum of each of these batches by {@link LateBatch#found}. */
  protected abstract void lookUp(List<LateBatch> batches) throws IOException;

  /** Returns the archive's name for messages. */
  protected abstract String place();

  /** Releases the partition without storing buffered data. */
  protected abstract void close() throws IOException;

  /** Returns the first offset that would be lost if the process died now. */
  final long stored() {
    return stored;
  }

  /** Checks that the partition's source is still the one that the archive's position belongs to. */
  final void checkSource() throws IOException {
    String now = feed.source(partition);
    if (now != null && source != null && !now.equals(source)) {
      throw new ArchiveException("the archive " + place() + " holds partition " + partition + " up to offset " + stored
          + " of " + source + ", and now there is another one of that name, " + now
          + ": it was recreated, so give it another archive");
    }
    source = now == null ? source : now;
  }

  /** Returns the offset to read from so that {@link #append} can compare the last message that was read. */
  final long comparableOffset() {
    return lastMessage() == null ? to : to - 1;
  }

  /** @param end first offset after the last message of the source */
  final void checkEnd(long end) throws IOException {
    if (to > end) {
      refuse("it has read up to offset " + to + ", but the source ends at offset " + end + " now");
    }
  }

  /**
   * Stops the writing of this partition until an operator decides. Otherwise the source could grow past the archive's
   * end, and the messages that it stored in between would be skipped.
   */
  final void refuse(String why) throws IOException {
    if (isLossAccepted) {
      throw new ArchiveUnavailableException("partition " + partition + " of the archive " + place() + " waits: " + why,
          null);
    }
    ArchiveException refusal = refused(why);
    try {
      roll(); // the source may no longer have what is buffered
    } catch (IOException e) {
      refusal.addSuppressed(e);
    }
    checkSource(); // another source has lost nothing
    storeRefusal(why);
    throw refusal;
  }

  private ArchiveException refused(String why) {
    return new ArchiveException("partition " + partition + " of the archive " + place() + " is not written any more: "
        + why + ". Either the broker has lost its last messages (power failure, restore from a backup, unclean leader"
        + " election): restore its data and run 'lifeline-jobs resume' on the archive, whose option --accept-loss"
        + " continues at the old offset without the messages that are stored before it. Or this is another topic or"
        + " stream of the same name: it was recreated, so give it another archive");
  }

  /** Returns the number of routes of which more than a few bytes are in memory. */
  final int routesInMemory() {
    return deduplicator.inMemory();
  }

  final boolean isStored() {
    return to == stored;
  }

  final boolean isDue(long nanoTime) {
    return to != stored && nanoTime - firstAppendNs >= options.interval().toNanos();
  }

  final void forgetSilentEmitters(long nanoTime) {
    if (clock.isSet()) {
      deduplicator.expire(clock.nowMs(nanoTime));
    }
  }

  /** Stores all buffered data. */
  final void roll() throws IOException {
    finish();
    if (to != stored) {
      makeReady();
      store();
      collectAnew();
      noteStored();
    }
  }

  final void catchUpIfDue(long nanoTime) throws IOException {
    Long due = putOffUntil();
    if (due != null && nanoTime - due >= 0) {
      catchUp();
    }
  }

  /** Stores all buffered data, and does the work that was put off. */
  final void catchUp() throws IOException {
    roll();
    if (putOffUntil() != null) {
      store();
    }
  }

  /**
   * Starts to store the buffered data, after the previous storing has finished. The server waits for its disk only once
   * per interval, which makes the earlier data durable, too.
   */
  final void rollAhead() throws IOException {
    finish();
    if (to != from) {
      makeReady();
      isStoringLazily = System.nanoTime() - storedNs < options.interval().toNanos();
      startStoring(isStoringLazily);
      isStoring = true;
      collectAnew();
    }
  }

  /** Waits for the storing in progress; if there is none, stores all buffered data. */
  final void makeRoom() throws IOException {
    if (isStoring) {
      finish();
    } else {
      roll();
    }
  }

  private void finish() throws IOException {
    if (isStoring) {
      finishStoring();
      isStoring = false;
      if (!isStoringLazily) {
        noteStored();
      }
    }
  }

  private void makeReady() throws IOException {
    compareLate();
    feed.beforeStoring();
    checkSource();
  }

  private void collectAnew() {
    underWay.add(new ArchiveFeed.Stored(partition, batches, events, duplicates, rejected));
    checksums.clear();
    deduplicator.settle();
    from = to;
    batches = 0;
    events = 0;
    duplicates = 0;
    rejected = 0;
  }

  private void noteStored() {
    stored = from;
    storedNs = System.nanoTime();
    while (!underWay.isEmpty()) {
      feed.stored(underWay.remove());
    }
  }

  /** @param all writers of the same archive, among them this one: a batch counts once in all of their partitions */
  final Appended append(Position position, byte[] message, Rejection refusal, Collection<PartitionWriter> all)
      throws IOException {
    if (position.offset() < to) {
      Long last = position.offset() == to - 1 ? lastMessage() : null;
      if (last != null && last != checksum(message)) {
        refuse("it has read up to offset " + to + ", but the message before it has been replaced");
      }
      return Appended.ALREADY_ARCHIVED;
    }
    if (late.size() >= MAX_LATE) {
      finish();
      compareLate();
    }
    if (to == from) {
      firstAppendNs = System.nanoTime();
    }
    tellTime(position.brokerTimeMs());
    Appended result = refusal == null ? take(position, message, all) : reject(refusal);
    to = position.offset() + 1;
    lastMessage = message;
    return result;
  }

  /**
   * Starts the clock at the archive's end: if the broker's clock was set forward meanwhile, nothing must be forgotten.
   */
  private void tellTime(long brokerTimeMs) {
    if (!clock.isSet() && newestArchivedMs != 0) {
      clock.startAt(Math.min(newestArchivedMs, brokerTimeMs));
    }
    clock.observe(brokerTimeMs);
  }

  private Appended take(Position position, byte[] message, Collection<PartitionWriter> all) throws IOException {
    try {
      reader.read(message, 0, message.length);
    } catch (RejectedBatchException e) {
      return reject(Rejection.of(position, e));
    }
    RouteKey route = RouteKey.of(reader);
    String elsewhere = feed.elsewhere(route.incarnation(), position);
    if (elsewhere != null) {
      return reject(Rejection.misplaced(position, elsewhere, route, reader.sequence()));
    }
    String refusal = prepare(reader);
    if (refusal != null) {
      return reject(Rejection.of(position, "too_many_types", refusal, route, reader.sequence()));
    }
    PartitionWriter holder = this;
    Deduplicator.Result result = Deduplicator.Result.NEW;
    for (PartitionWriter other : all) {
      if (other != this && result == Deduplicator.Result.NEW) {
        holder = other;
        result = other.deduplicator.look(route, reader.sequence(), reader.crc());
      }
    }
    if (result == Deduplicator.Result.NEW) {
      holder = this;
      result = deduplicator.check(route, reader.sequence(), reader.crc(), clock.nowMs());
    }
    return switch (result) {
      case NEW -> {
        if (reader.isFinal()) {
          deduplicator.ends(route, reader.sequence());
        }
        collect(reader, reader.columns(), route, position);
        batches++;
        events += reader.eventCount();
        yield Appended.ACCEPTED;
      }
      case DUPLICATE -> {
        duplicates++;
        yield Appended.DUPLICATE;
      }
      case UNKNOWN -> {
        late.add(new LateBatch(holder, position, route, reader.sequence(), reader.crc()));
        duplicates++;
        yield Appended.DUPLICATE;
      }
      case CONFLICT -> reject(conflict(position, route, reader.sequence()));
    };
  }

  /** Compares late batches with the archive, all of them at once, before each storing. */
  private void compareLate() throws IOException {
    if (late.isEmpty()) {
      return;
    }
    Map<PartitionWriter, List<LateBatch>> byHolder = new LinkedHashMap<>();
    late.forEach(batch -> byHolder.computeIfAbsent(batch.holder(), any -> new ArrayList<>()).add(batch));
    for (Map.Entry<PartitionWriter, List<LateBatch>> each : byHolder.entrySet()) {
      each.getKey().finish();
      each.getKey().lookUp(each.getValue());
    }
    while (!late.isEmpty()) { // one by one: after a failure, earlier ones are not reported again
      LateBatch batch = late.element();
      if (batch.contradicts()) {
        reject(conflict(batch.position(), batch.route(), batch.sequence()));
        duplicates--;
      } else if (!batch.isFound()) {
        reject(Rejection.of(batch.position(), "unverifiable", "a batch with its sequence was archived and has been "
            + "removed, so it is unknown whether it was the same", batch.route(), batch.sequence()));
        duplicates--;
      }
      late.remove();
    }
  }

  private static Rejection conflict(Position position, RouteKey route, long sequence) {
    return Rejection.of(position, "conflict", "another batch has the same sequence", route, sequence);
  }

  private Appended reject(Rejection rejection) {
    feed.reject(rejection); // first: if reporting fails, the feed gets the same message again
    rejected++;
    return Appended.REJECTED;
  }
}
