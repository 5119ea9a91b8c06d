package io.lifeline.codec;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps one {@link EventType} per content, and recognises known descriptors by their bytes, so that the types of a
 * batch cost a comparison and no parsing.
 */
final class TypeInterner {
  /**
   * A hostile topic may define any number of types; beyond this many, or this many bytes of descriptors, the interner
   * starts over. In memory fields with short names are twenty times as large.
   */
  static final int MAX_TYPES = 10_000;

  static final int MAX_BYTES = 1 << 20;

  private static final class Known {
    final EventType type;
    final byte[] content;

    Known(EventType type, byte[] content) {
      this.type = type;
      this.content = content;
    }
  }

  private final Map<EventType, EventType> types = new HashMap<>();
  private final Map<Long, Known> little = new HashMap<>();
  private final Map<Long, Known> big = new HashMap<>();

  /** Total size of the content of all types. */
  private int bytes;

  /** Returns the type with exactly this content, if known; {@code length} includes the padding. */
  EventType find(byte[] bytes, int offset, int length, long hash, boolean bigEndian) {
    Known known = (bigEndian ? big : little).get(hash);
    if (known == null || RecordLayout.padded(known.content.length) != length) {
      return null;
    }
    int end = offset + known.content.length;
    return Arrays.equals(bytes, offset, end, known.content, 0, known.content.length) ? known.type : null;
  }

  /** Returns the one instance that equals {@code type}. */
  EventType intern(EventType type, boolean bigEndian) {
    EventType interned = types.get(type);
    if (interned == null) {
      interned = add(type);
    }
    byte[] content = bigEndian ? DescriptorWriter.content(interned, ByteOrder.BIG_ENDIAN) : interned.content();
    (bigEndian ? big : little).put(interned.hash(), new Known(interned, content));
    return interned;
  }

  private EventType add(EventType type) {
    int added = type.content().length;
    if (types.size() >= MAX_TYPES || bytes + added > MAX_BYTES) {
      types.clear();
      little.clear();
      big.clear();
      bytes = 0;
    }
    bytes += added;
    types.put(type, type);
    return type;
  }

  int size() {
    return types.size();
  }
}
