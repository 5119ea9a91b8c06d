package io.lifeline.jobs.core.filter;

import com.google.common.primitives.UnsignedLong;
import dev.cel.common.ast.CelConstant;
import io.lifeline.codec.FieldType;

/**
 * Maps the values of a kind of field to keys, which are ordered as signed numbers. A comparison with a constant then
 * becomes an interval of keys. Numbers of different kinds are compared as in CEL's Java runtime: integers are compared
 * with floats as floats.
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

    /** For CEL's runtime, NaN is above all integers, and neither below nor above any float. */
    @Override
    long highest(CelConstant constant) {
      return key(constant.getKind() == CelConstant.Kind.DOUBLE_VALUE ? Double.POSITIVE_INFINITY : Double.NaN);
    }
  };

  private static final double TWO_TO_63 = 0x1p63;
  private static final double TWO_TO_64 = 0x1p64;

  /** Returns the scale of a field's values, or null if they are not numbers. */
  static Scale of(FieldType type) {
    return switch (type) {
      case I32, I64 -> INT;
      case U32, U64 -> UINT;
      case F32, F64 -> REAL;
      default -> null;
    };
  }

  /** Returns a negative number, 0 or a positive number if the key's value is below, equal to or above the constant. */
  abstract int compare(long key, CelConstant constant);

  /** Returns the lowest key of any value. */
  long lowest() {
    return Long.MIN_VALUE;
  }

  /** Returns the highest key that may satisfy a comparison with the constant. */
  long highest(CelConstant constant) {
    return Long.MAX_VALUE;
  }

  /** Returns the key of a float: ordered from minus infinity to NaN, with -0.0 below 0.0. */
  static long key(double value) {
    return sortable(Double.doubleToLongBits(value));
  }

  /** Converts the bits of a float to its key, and a key to bits. */
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
