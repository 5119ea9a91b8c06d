package io.lifeline.codec;

import java.util.List;

/** Offsets of the fields in a type's records, as far as they are the same for each record. */
final class RecordLayout {
  /** The word of tick and type number that each record starts with. */
  static final int WORD = 8;

  /** Types by field, as an array that avoids a list access per value. */
  final FieldType[] types;

  /** Sizes by field; 0 for strings and bytes. */
  final int[] sizes;

  /** Offsets by field from the start of the record, valid up to and including the first string or bytes. */
  final int[] offsets;

  /** Size of a record, padding included, or 0 if records differ. */
  final int fixedLength;

  /** Whether any field is a bool, whose value must be checked. */
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

  /** Rounds up to a multiple of 8. */
  static int padded(int length) {
    return length + 7 & ~7;
  }
}
