package llb

import (
	"fmt"
	"slices"
)

// Code is the reason why a batch was rejected. FORMAT.md, section 9.
type Code string

// The codes.
const (
	Truncated      Code = "truncated"
	BadMagic       Code = "bad_magic"
	BadVersion     Code = "bad_version"
	TooLarge       Code = "too_large"
	BadCRC         Code = "bad_crc"
	BadFlag        Code = "bad_flag"
	BadLength      Code = "bad_length"
	BadCalibration Code = "bad_calibration"
	BadCount       Code = "bad_count"
	BadText        Code = "bad_text"
	BadDescriptor  Code = "bad_descriptor"
	BadCompression Code = "bad_compression"
	UnknownType    Code = "unknown_type"
	BadRecord      Code = "bad_record"
)

// Rejection is the error of a batch that breaks the format. Its message never contains the batch's bytes.
type Rejection struct {
	Code    Code
	Offset  int // from the start of the batch; for compressed events, as if the batch were uncompressed
	Message string
}

func (r *Rejection) Error() string {
	return fmt.Sprintf("rejected: %s at %d: %s", r.Code, r.Offset, r.Message)
}

// findings collects faults of header and descriptors, and keeps the one that the format ranks first: by the order of
// the codes, then by the order of detection.
type findings struct {
	first *Rejection
	rank  int
}

var structureOrder = []Code{BadFlag, BadLength, BadCalibration, BadCount, BadText, BadDescriptor}

func (f *findings) add(code Code, offset int, format string, arguments ...any) {
	rank := slices.Index(structureOrder, code)
	if f.first == nil || rank < f.rank {
		f.first = &Rejection{code, offset, fmt.Sprintf(format, arguments...)}
		f.rank = rank
	}
}
