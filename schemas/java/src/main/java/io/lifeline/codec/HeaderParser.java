package io.lifeline.codec;

import java.util.Map;
import java.util.zip.CRC32C;

/** Reads and checks the header of a batch, and everything that can be checked before its sections are parsed. */
final class HeaderParser {
  private static final int MAGIC = 0x424c4c89;
  private static final int VERSION = 1;
  private static final int KNOWN_FLAGS =
      BatchHeader.FINAL | BatchHeader.RECOVERED | BatchHeader.CLOCK_UNCERTAIN | BatchHeader.DERIVED;

  private final BatchHeader header;
  private final Findings findings;
  private final TextReader text;
  private final CRC32C crc32c = new CRC32C();

  private byte[] bytes;
  private int start;

  HeaderParser(BatchHeader header, Findings findings) {
    this.header = header;
    this.findings = findings;
    this.text = new TextReader(findings);
  }

  /** Checks the message as a whole, after which its lengths and bytes can be relied on. */
  void readEnvelope(byte[] message, int offset, int length) throws RejectedBatchException {
    bytes = message;
    start = offset;
    if (length < BatchHeader.FIXED_LENGTH + BatchHeader.CRC_LENGTH) {
      findings.reject(Fault.SHORTER_THAN_A_HEADER, length, "the message is shorter than a batch without events");
    }
    if (Bytes.getInt(bytes, start, false) != MAGIC) {
      findings.reject(Fault.BAD_MAGIC, 0, "the message does not start as a batch does");
    }
    if (u8(4) != VERSION) {
      findings.reject(Fault.BAD_VERSION, 4, "version " + u8(4) + " of the format is not known here, only 1");
    }
    if (u8(5) > 1) {
      findings.reject(Fault.BAD_BYTE_ORDER, 5, "byte order " + u8(5) + " is neither 0 nor 1");
    }
    header.bigEndian = u8(5) == 1;
    checkLengths(length);
    header.crc = Bytes.getInt(bytes, start + length - BatchHeader.CRC_LENGTH, header.bigEndian);
    crc32c.reset();
    crc32c.update(bytes, start, length - BatchHeader.CRC_LENGTH);
    if ((int) crc32c.getValue() != header.crc) {
      findings.reject(Fault.BAD_CRC, length - BatchHeader.CRC_LENGTH, "the CRC does not fit the bytes");
    }
  }

  private void checkLengths(int length) throws RejectedBatchException {
    long headerLength = u32(12);
    long total = u32(56);
    long descriptors = u32(60);
    long events = u32(64);
    long raw = u32(68);
    if (length < total) {
      findings.reject(Fault.TRUNCATED, length, "the message has " + length + " of " + total + " bytes");
    }
    if (total > BatchReader.MAX_BATCH_BYTES) {
      findings.reject(Fault.TOO_LARGE, 56, "a batch of " + total + " bytes is above the limit");
    }
    if (raw > BatchHeader.MAX_RAW_BYTES) {
      findings.reject(Fault.TOO_LARGE, 68, "an events section of " + raw + " bytes is above the limit");
    }
    if (length > total) {
      findings.reject(Fault.LENGTHS_DISAGREE, (int) total, "bytes follow behind the batch");
    }
    if (headerLength + descriptors + events + BatchHeader.CRC_LENGTH != total) {
      findings.reject(Fault.LENGTHS_DISAGREE, 56, "the lengths of the sections do not sum up to the batch's");
    }
    header.headerLength = (int) headerLength;
    header.totalLength = (int) total;
    header.descriptorsLength = (int) descriptors;
    header.eventsLength = (int) events;
    header.rawLength = (int) raw;
  }

  /** Reads the header itself; reports faults to the findings. */
  void readHeader() {
    readFlags();
    readNumbers();
    checkMultiplesOfEight();
    readSections();
  }

  private void readFlags() {
    header.flags = (int) u32(8);
    if ((header.flags & ~(KNOWN_FLAGS | BatchHeader.IGNORED_FLAGS)) != 0) {
      findings.report(Fault.BAD_FLAG, 8, "a reserved flag is set");
    }
    header.compression = Compression.ofNumber(u8(6));
    if (header.compression == null) {
      findings.report(Fault.BAD_FLAG, 6, "compression " + u8(6) + " is not known");
    }
    header.shuffle = u8(7);
    if (!Shuffle.isKnown(header.shuffle)) {
      findings.report(Fault.BAD_FLAG, 7, "a shuffle by " + header.shuffle + " is not known");
    } else if (header.shuffle != 0 && header.compression == Compression.NONE) {
      findings.report(Fault.BAD_FLAG, 7, "events that are not compressed are shuffled");
    }
    header.monotonicTicks = u8(90) == 1;
    if (u8(90) > 1) {
      findings.report(Fault.BAD_FLAG, 90, "clock " + u8(90) + " is not known");
    }
    for (int at = 91; at < BatchHeader.FIXED_LENGTH; at++) {
      if (u8(at) != 0) {
        findings.report(Fault.BAD_FLAG, at, "a reserved byte is set");
      }
    }
  }

  private void readNumbers() {
    header.incarnation = incarnation(16);
    header.sequence = u64(32);
    header.baseTick = u64(40);
    header.tickHz = u64(48);
    header.pid = u32(76);
    header.route = u16(80);
    if (header.sequence == 0) {
      findings.report(Fault.BAD_LENGTH, 32, "sequences start at 1");
    }
    if (header.tickHz < 1 || header.tickHz > TickClock.MAX_TICK_HZ) {
      findings.report(Fault.BAD_CALIBRATION, 48, "tick_hz is not within 1 and 10^11");
    }
  }

  private void checkMultiplesOfEight() {
    checkMultipleOfEight(12, header.headerLength, "header_length");
    checkMultipleOfEight(60, header.descriptorsLength, "descriptors_length");
    checkMultipleOfEight(68, header.rawLength, "events_raw_length");
    if (header.compression == Compression.NONE && header.eventsLength != header.rawLength) {
      findings.report(Fault.BAD_LENGTH, 68, "events_raw_length differs from events_length without compression");
    }
  }

  private void checkMultipleOfEight(int at, int value, String name) {
    if (value % 8 != 0) {
      findings.report(Fault.BAD_LENGTH, at, name + " is not a multiple of 8");
    }
  }

  private void readSections() {
    header.counterCount = u16(82);
    int calibrations = u16(84);
    header.segmentCount = u16(86);
    if (header.counterCount < Counter.values().length) {
      findings.report(Fault.BAD_LENGTH, 82, "fewer than 12 counters");
    }
    if (calibrations == 0) {
      findings.report(Fault.BAD_CALIBRATION, 84, "no calibration");
    }
    int countersAt = BatchHeader.FIXED_LENGTH;
    int calibrationsAt = countersAt + 8 * header.counterCount;
    int segmentsAt = calibrationsAt + TickClock.ENTRY * calibrations;
    int parentAt = segmentsAt + BatchHeader.SEGMENT_ENTRY * header.segmentCount;
    int textAt = parentAt + (header.has(BatchHeader.DERIVED) ? BatchHeader.PARENT_LENGTH : 0);
    if (textAt > header.headerLength) {
      findings.report(Fault.BAD_LENGTH, 82, "counters, calibrations and segments do not fit the header");
      return;
    }
    readCounters(countersAt);
    header.clock.load(
        bytes, start + calibrationsAt, calibrations, header.bigEndian, header.tickHz, start, findings);
    readSegments(segmentsAt);
    header.parent = header.has(BatchHeader.DERIVED) ? readParent(parentAt) : null;
    readTexts(textAt, u16(88));
  }

  private void readCounters(int at) {
    if (header.counterCount > header.counters.length) {
      header.counters = new long[header.counterCount];
    }
    for (int i = 0; i < header.counterCount; i++) {
      header.counters[i] = u64(at + 8 * i);
    }
  }

  private void readSegments(int at) {
    if (header.segmentCount > header.segmentThread.length) {
      header.segmentThread = new long[header.segmentCount];
      header.segmentBytes = new int[header.segmentCount];
      header.segmentEvents = new int[header.segmentCount];
    }
    long byteSum = 0;
    long eventSum = 0;
    for (int i = 0; i < header.segmentCount; i++, at += BatchHeader.SEGMENT_ENTRY) {
      header.segmentThread[i] = u64(at);
      header.segmentBytes[i] = (int) u32(at + 8);
      header.segmentEvents[i] = (int) u32(at + 12);
      byteSum += u32(at + 8);
      eventSum += u32(at + 12);
      checkMultipleOfEight(at + 8, header.segmentBytes[i], "a segment's length");
    }
    header.eventCount = (int) u32(72);
    if (byteSum != header.rawLength) {
      findings.report(Fault.BAD_SEGMENT_SUM, 68, "the segments' bytes do not sum up to events_raw_length");
    }
    if (eventSum != u32(72)) {
      findings.report(Fault.BAD_SEGMENT_SUM, 72, "the segments' events do not sum up to event_count");
    }
  }

  private Parent readParent(int at) {
    if (u16(at + 26) != 0 || u32(at + 36) != 0) {
      findings.report(Fault.BAD_FLAG, at + 26, "a reserved byte of the parent is set");
    }
    return new Parent(incarnation(at), u64(at + 16), u16(at + 24), u32(at + 28), u32(at + 32));
  }

  private void readTexts(int at, int contextCount) {
    text.start(bytes, start, at, header.headerLength, header.bigEndian);
    header.host = text.next("the host", 0, BatchHeader.MAX_TEXT);
    header.program = text.next("the program", 0, BatchHeader.MAX_TEXT);
    header.routeName = text.next("the route's name", 0, BatchHeader.MAX_TEXT);
    header.context.clear();
    for (int i = 0; i < contextCount && !text.overran(); i++) {
      String key = text.next("a context key", 1, DescriptorWriter.MAX_NAME);
      String value = text.next("a context value", 0, BatchHeader.MAX_TEXT);
      header.context.add(Map.entry(key, value));
    }
    if (text.overran()) {
      findings.report(Fault.BAD_LENGTH, text.position(), "a text runs over the end of the header");
    }
  }

  private Incarnation incarnation(int at) {
    return new Incarnation(Bytes.getLong(bytes, start + at, true), Bytes.getLong(bytes, start + at + 8, true));
  }

  private int u8(int at) {
    return bytes[start + at] & 0xff;
  }

  private int u16(int at) {
    return Bytes.getU16(bytes, start + at, header.bigEndian);
  }

  private long u32(int at) {
    return Bytes.getU32(bytes, start + at, header.bigEndian);
  }

  private long u64(int at) {
    return Bytes.getLong(bytes, start + at, header.bigEndian);
  }
}
