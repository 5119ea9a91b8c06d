package io.lifeline.codec;

/** The faults of a batch: the rows of FORMAT section 9, in order. */
enum Fault {
  SHORTER_THAN_A_HEADER("truncated"),
  BAD_MAGIC("bad_magic"),
  BAD_VERSION("bad_version"),
  BAD_BYTE_ORDER("bad_flag"),
  TRUNCATED("truncated"),
  TOO_LARGE("too_large"),
  LENGTHS_DISAGREE("bad_length"),
  BAD_CRC("bad_crc"),
  BAD_FLAG("bad_flag"),
  BAD_LENGTH("bad_length"),
  BAD_CALIBRATION("bad_calibration"),
  BAD_SEGMENT_SUM("bad_count"),
  BAD_TEXT("bad_text"),
  BAD_DESCRIPTOR("bad_descriptor"),
  BAD_COMPRESSION("bad_compression"),
  UNKNOWN_TYPE("unknown_type"),
  BAD_RECORD("bad_record"),
  BAD_RECORD_COUNT("bad_count");

  final String code;

  Fault(String code) {
    this.code = code;
  }
}
