package io.lifeline.codec;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads and checks the descriptors of a batch (FORMAT section 4). */
final class DescriptorParser {
  private static final int MIN_ENTRY = 24;
  private static final int TYPE_NUMBERS = 1 << 16;

  private final Findings findings;
  private final TypeInterner interner = new TypeInterner();
  private final TextReader text;
  private final List<EventType> types = new ArrayList<>();
  private final EventType[] byNumber = new EventType[TYPE_NUMBERS];
  private int[] numbers = new int[16];

  /** Whether the current entry has a constant of an unknown type, so that its end is unknown. */
  private boolean endUnknown;

  DescriptorParser(Findings findings) {
    this.findings = findings;
    this.text = new TextReader(findings);
  }

  /** Returns the types of the batch, in order. */
  List<EventType> types() {
    return types;
  }

  /** Returns the number of the type at that index of {@link #types()}. */
  int number(int index) {
    return numbers[index];
  }

  /** Returns the types by number, null where there is none; do not change it. */
  EventType[] byNumber() {
    return byNumber;
  }

  /** Reads the section from {@code at} to {@code end}, offsets from the start of the batch. */
  void read(byte[] bytes, int start, int at, int end, boolean bigEndian) {
    forgetLastBatch();
    while (at < end) {
      int length = entryLength(bytes, start, at, end, bigEndian);
      if (length == 0) {
        return;
      }
      EventType type = readEntry(bytes, start, at, length, bigEndian);
      int number = Bytes.getU16(bytes, start + at + 4, bigEndian);
      if (number == 0) {
        findings.report(Fault.BAD_DESCRIPTOR, at + 4, "type numbers start at 1");
      } else if (byNumber[number] != null) {
        findings.report(Fault.BAD_DESCRIPTOR, at + 4, "two descriptors have number " + number);
      } else if (type != null) {
        add(number, type);
      }
      at += length;
    }
  }

  private void forgetLastBatch() {
    for (int i = 0; i < types.size(); i++) {
      byNumber[numbers[i]] = null;
    }
    types.clear();
  }

  private void add(int number, EventType type) {
    if (types.size() == numbers.length) {
      numbers = java.util.Arrays.copyOf(numbers, 2 * numbers.length);
    }
    numbers[types.size()] = number;
    types.add(type);
    byNumber[number] = type;
  }

  /** Returns the size of the entry at {@code at}, or 0 if it cannot be an entry. */
  private int entryLength(byte[] bytes, int start, int at, int end, boolean bigEndian) {
    if (end - at < MIN_ENTRY) {
      findings.report(Fault.BAD_LENGTH, at, "the descriptors end within an entry");
      return 0;
    }
    long length = Bytes.getU32(bytes, start + at, bigEndian);
    if (length < MIN_ENTRY || length > end - at || length % 8 != 0) {
      findings.report(Fault.BAD_LENGTH, at, "a descriptor of " + length + " bytes does not fit its section");
      return 0;
    }
    return (int) length;
  }

  private EventType readEntry(byte[] bytes, int start, int at, int length, boolean bigEndian) {
    if (Bytes.getU16(bytes, start + at + 6, bigEndian) != 0) {
      findings.report(Fault.BAD_FLAG, at + 6, "a reserved byte of a descriptor is set");
    }
    long hash = Bytes.getLong(bytes, start + at + 8, bigEndian);
    int contentAt = at + DescriptorWriter.CONTENT_OFFSET;
    int contentLength = length - DescriptorWriter.CONTENT_OFFSET;
    EventType known = interner.find(bytes, start + contentAt, contentLength, hash, bigEndian);
    if (known != null) {
      return known;
    }
    int before = findings.count();
    text.start(bytes, start, contentAt, at + length, bigEndian);
    endUnknown = false;
    EventType type = readContent(contentAt, before);
    if (text.overran() || !endUnknown && RecordLayout.padded(text.position() - at) != length) {
      findings.report(Fault.BAD_LENGTH, at, "a descriptor's content does not fit its length");
      return null;
    }
    if (type == null) {
      return null;
    }
    if (type.hash() != hash) {
      findings.report(Fault.BAD_DESCRIPTOR, at + 8, "a descriptor's hash does not fit its content");
      return null;
    }
    return interner.intern(type, bigEndian);
  }

  /** Returns the described type, or null if there are now more findings than {@code before}. */
  private EventType readContent(int contentAt, int before) {
    int levelNumber = text.u8();
    int fieldCount = text.u8();
    int constantCount = text.u8();
    if (text.u8() != 0) {
      findings.report(Fault.BAD_FLAG, contentAt + 3, "a reserved byte of a descriptor is set");
    }
    Level level = Level.ofNumber(levelNumber);
    if (level == null) {
      findings.report(Fault.BAD_DESCRIPTOR, contentAt, "level " + levelNumber + " is not known");
    }
    String name = text.next("an event type's name", 1, DescriptorWriter.MAX_NAME);
    Set<String> names = new HashSet<>();
    List<Field> fields = new ArrayList<>(fieldCount);
    for (int i = 0; i < fieldCount && !text.overran(); i++) {
      Field field = readField(names);
      if (field != null) {
        fields.add(field);
      }
    }
    List<Constant> constants = new ArrayList<>(constantCount);
    for (int i = 0; i < constantCount && !text.overran(); i++) {
      Field field = readField(names);
      if (field == null) {
        endUnknown = true;
        return null;
      }
      constants.add(new Constant(field.name(), field.type(), field.unit(), readValue(field.type())));
    }
    return findings.count() > before || text.overran() ? null : new EventType(name, level, fields, constants);
  }

  /** Returns the next field, or the head of a constant; null if its type is unknown. */
  private Field readField(Set<String> names) {
    int at = text.position();
    int code = text.u8();
    FieldType type = FieldType.ofCode(code);
    if (type == null && !text.overran()) {
      findings.report(Fault.BAD_DESCRIPTOR, at, "field type " + code + " is not known");
    }
    int before = findings.count();
    String name = text.next("a field's name", 1, DescriptorWriter.MAX_NAME);
    String unit = text.next("a field's unit", 0, DescriptorWriter.MAX_NAME);
    if (findings.count() == before && !text.overran() && !names.add(name)) {
      findings.report(Fault.BAD_DESCRIPTOR, at, "two fields or constants of a type have the same name");
    }
    return type == null ? null : new Field(name, type, unit);
  }

  private Object readValue(FieldType type) {
    int at = text.position();
    switch (type) {
      case I32:
        return text.i32();
      case U32:
        return Integer.toUnsignedLong(text.i32());
      case F32:
        return Float.intBitsToFloat(text.i32());
      case F64:
        return Double.longBitsToDouble(text.i64());
      case BOOL:
        int value = text.u8();
        if (value > 1) {
          findings.report(Fault.BAD_DESCRIPTOR, at, "a constant bool is neither 0 nor 1");
        }
        return value == 1;
      case STRING:
        return text.next("a constant", 0, 0xffff);
      case BYTES:
        return text.bytes();
      default:
        return text.i64();
    }
  }
}
