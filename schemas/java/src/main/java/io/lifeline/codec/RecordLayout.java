package io.lifeline.codec;

import java.util.List;

/** Where the fields of a type's records lie, so far as that is the same for each record. */
final class RecordLayout {
  /** The word of tick and type number that each record starts with. */
  static final int WORD = 8;

  /** Types by field, as an array that needs no list access per value. */
  final FieldType[] types;

  /** Bytes by field; 0 for strings and bytes. */
  final int[] sizes;

  /** Offsets by field from the start of the record, right up to and including the first string or bytes. */
  final int[] offsets;

  /** Bytes of a record, padding included, or 0 if records differ. */
  final int fixedLength;

  /** Whether some field is a bool, so that its value must be looked at. */
  final boolean hasBool;

  RecordLayout(List<Field> fields) {
    int count = fields.size();
    types = new FieldType[count];
    sizes = new int[count];
    offsets = new int[count];
    int at = WORD;
    boolean fixed = true;
    boolean bool = false;
    for (int i = 0; i < count; i++) {
      types[i] = fields.get(i).type();
      sizes[i] = types[i].size();
      offsets[i] = at;
      at += sizes[i];
      fixed &= !types[i].isVariable();
      bool |= types[i] == FieldType.BOOL;
    }
    fixedLength = fixed ? padded(at) : 0;
    hasBool = bool;
  }

  /** The next multiple of 8. */
  static int padded(int length) {
    return length + 7 & ~7;
  }
}
