// Package llb reads and writes Lifeline batches, format version 1 (schemas/FORMAT.md).
//
// A Reader checks the whole batch before it delivers the first event, so the events need no further checks, and it does
// not allocate per event. It rejects a batch with a *Rejection: code, offset and message.
package llb

// The layout of the fixed header. FORMAT.md, section 3.
const (
	offMagic             = 0
	offVersion           = 4
	offByteOrder         = 5
	offCompression       = 6
	offShuffle           = 7
	offFlags             = 8
	offHeaderLength      = 12
	offIncarnation       = 16
	offSequence          = 32
	offBaseTick          = 40
	offTickHz            = 48
	offTotalLength       = 56
	offDescriptorsLength = 60
	offEventsLength      = 64
	offEventsRawLength   = 68
	offEventCount        = 72
	offPID               = 76
	offRoute             = 80
	offCounterCount      = 82
	offCalibrationCount  = 84
	offSegmentCount      = 86
	offContextCount      = 88
	offClock             = 90
	offReserved          = 91
	fixedHeaderLength    = 96

	calibrationLength = 32
	segmentLength     = 16
	parentLength      = 40
	crcLength         = 4
)

// The layout of a descriptor. FORMAT.md, section 4.
const (
	entOffNumber     = 4
	entOffReserved16 = 6
	entOffHash       = 8
	entOffIdentity   = 16
	entOffReserved8  = 19
	entOffName       = 20
)

const (
	magic   = "\x89LLB"
	version = 1
)

// Limits of FORMAT.md, section 10.
const (
	MaxBatchLength     = 960_000
	MaxRawEventsLength = 1_048_576
	MaxRecordLength    = 32_768
	MaxNameLength      = 255
	MaxTextLength      = 4_096
)

const (
	maxTickHz = 100_000_000_000
	maxStride = 128
)

// TickDifferences is the bit of Header.Shuffle that says that the ticks of the rows are stored as differences.
const TickDifferences = 1

// Flags of a batch.
type Flags uint32

// The flags that readers know.
const (
	Final          Flags = 1 << 0 // the last batch of this (incarnation, route)
	Recovered      Flags = 1 << 1 // written by a recovery after the emitter's process died
	ClockUncertain Flags = 1 << 2 // the tick jumped without explanation
	Derived        Flags = 1 << 3 // made from another batch by a filter

	ignoredFlags  Flags = 0xff00
	reservedFlags       = ^(Final | Recovered | ClockUncertain | Derived | ignoredFlags)
)

// Compression of the events section.
type Compression uint8

// The compressions.
const (
	None Compression = iota
	LZ4
	Zstd
)

// Clock is the unit of a tick.
type Clock uint8

// The clocks.
const (
	Ticks     Clock = iota // the CPU's counter
	Monotonic              // CLOCK_MONOTONIC_RAW in nanoseconds
)

// Counter is an index into Header.Counters.
type Counter int

// The counters that every batch has. FORMAT.md, section 3.2.
const (
	Emitted Counter = iota
	DroppedRingFull
	DroppedNoRing
	DroppedReentrant
	DroppedOversize
	DroppedShutdown
	DroppedSpoolFull
	DroppedSink
	SampledOut
	BelowThreshold
	Folded
	Spooled
	KnownCounters
)

// Level of an event type.
type Level uint8

// The levels.
const (
	Fatal Level = iota + 1
	Error
	Warn
	Info
	Debug
	Debug1
	Debug2
	Debug3
)

var levelNames = [...]string{"", "fatal", "error", "warn", "info", "debug", "debug1", "debug2", "debug3"}

// String returns the level as FORMAT.md writes it.
func (l Level) String() string { return nameOf(levelNames[:], int(l)) }

// LevelNamed returns the level of that name.
func LevelNamed(name string) (Level, bool) {
	index, known := indexOf(levelNames[:], name)
	return Level(index), known
}

// FieldType is the type of a field or constant.
type FieldType uint8

// The field types.
const (
	I32 FieldType = iota + 1
	I64
	F32
	F64
	String
	U32
	U64
	Bool
	Bytes
)

var fieldTypeNames = [...]string{"", "i32", "i64", "f32", "f64", "string", "u32", "u64", "bool", "bytes"}

// String returns the type as FORMAT.md writes it.
func (t FieldType) String() string { return nameOf(fieldTypeNames[:], int(t)) }

// FieldTypeNamed returns the type of that name.
func FieldTypeNamed(name string) (FieldType, bool) {
	index, known := indexOf(fieldTypeNames[:], name)
	return FieldType(index), known
}

// fixedSizes holds the size of a value in a record; 0 for values that begin with their own length.
var fixedSizes = [...]int{I32: 4, I64: 8, F32: 4, F64: 8, String: 0, U32: 4, U64: 8, Bool: 1, Bytes: 0}

func nameOf(names []string, index int) string {
	if index > 0 && index < len(names) {
		return names[index]
	}
	return "unknown"
}

func indexOf(names []string, name string) (int, bool) {
	for index, known := range names {
		if index > 0 && known == name {
			return index, true
		}
	}
	return 0, false
}
