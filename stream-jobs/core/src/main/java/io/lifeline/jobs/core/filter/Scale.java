package io.lifeline.jobs.core.filter;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.ast.CelConstant;
import io.lifeline.codec.FieldType;

/**
 * Puts the values of a kind of field on one scale: a key per value, ordered as signed numbers. Comparing with a
 * constant then comes down to an interval of keys. How numbers of different kinds compare is CEL's business, and
 * repeated here as its Java runtime does it: integers are compared to floats as floats.
 */
enum Scale {
  INT {
    @Override
    int compare(long key, CelConstant constant) {
      return switch (constant.getKind()) {
        case INT64_VALUE -> Long.compare(key, constant.int64Value());
        case UINT64_VALUE -> compareIntUint(key, constant.uint64Value().longValue());
        default -> -compareRealInt(constant.doubleValue(), key);
      };
    }
  },
  UINT {
    @Override
    int compare(long key, CelConstant constant) {
      long bits = key ^ Long.MIN_VALUE;
      return switch (constant.getKind()) {
        case INT64_VALUE -> -compareIntUint(constant.int64Value(), bits);
        case UINT64_VALUE -> Long.compareUnsigned(bits, constant.uint64Value().longValue());
        default -> -compareRealUint(constant.doubleValue(), bits);
      };
    }
  },
  REAL {
    @Override
    int compare(long key, CelConstant constant) {
      double value = Double.longBitsToDouble(sortable(key));
      return switch (constant.getKind()) {
        case INT64_VALUE -> compareRealInt(value, constant.int64Value());
        case UINT64_VALUE -> compareRealUint(value, constant.uint64Value().longValue());
        default -> value < constant.doubleValue() ? -1 : value > constant.doubleValue() ? 1 : 0;
      };
    }

    @Override
    long lowest() {
      return key(Double.NEGATIVE_INFINITY);
    }

    /** To the runtime, NaN is above all integers, and neither below nor above any float. */
    @Override
    long highest(CelConstant constant) {
      return key(constant.getKind() == CelConstant.Kind.DOUBLE_VALUE ? Double.POSITIVE_INFINITY : Double.NaN);
    }
  };

  private static final double TWO_TO_63 = 0x1p63;
  private static final double TWO_TO_64 = 0x1p64;

  /** The scale of a field's values, or null if they are no numbers. */
  static Scale of(FieldType type) {
    return switch (type) {
      case I32, I64 -> INT;
      case U32, U64 -> UINT;
      case F32, F64 -> REAL;
      default -> null;
    };
  }

  /** Negative, 0 or positive, as the value with that key is below, equal to or above the number. */
  abstract int compare(long key, CelConstant constant);

  /** The lowest key that a value may have. */
  long lowest() {
    return Long.MIN_VALUE;
  }

  /** The highest key that takes part in comparisons with the number. */
  long highest(CelConstant constant) {
    return Long.MAX_VALUE;
  }

  /** The key of a float: in order from minus infinity to NaN, with -0.0 below 0.0. */
  static long key(double value) {
    return sortable(Double.doubleToLongBits(value));
  }

  /** Turns bits of floats into keys, and keys into bits. */
  private static long sortable(long bits) {
    return bits ^ bits >> 63 & Long.MAX_VALUE;
  }

  private static int compareIntUint(long value, long bits) {
    return value < 0 || bits < 0 || bits == Long.MAX_VALUE ? -1 : Long.compare(value, bits);
  }

  private static int compareRealInt(double real, long value) {
    return real < -TWO_TO_63 ? -1 : real > TWO_TO_63 ? 1 : Double.compare(real, (double) value);
  }

  private static int compareRealUint(double real, long bits) {
    double value = UnsignedLong.fromLongBits(bits).doubleValue();
    return real < 0 ? -1 : real > TWO_TO_64 ? 1 : Double.compare(real, value);
  }
}
