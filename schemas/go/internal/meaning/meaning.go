// Package meaning turns batches into their JSON meaning and back. FORMAT.md, section 13.
package meaning

// Batch is the JSON meaning of a batch; 64-bit integers are decimal strings.
type Batch struct {
	Version      int           `json:"version"`
	ByteOrder    string        `json:"byte_order"`
	Compression  string        `json:"compression"`
	Shuffle      uint8         `json:"shuffle"`
	Flags        []string      `json:"flags"`
	Incarnation  string        `json:"incarnation"`
	Sequence     uint64        `json:"sequence,string"`
	BaseTick     uint64        `json:"base_tick,string"`
	TickHz       uint64        `json:"tick_hz,string"`
	Clock        string        `json:"clock"`
	PID          uint32        `json:"pid"`
	Route        uint16        `json:"route"`
	RouteName    string        `json:"route_name"`
	Host         string        `json:"host"`
	Program      string        `json:"program"`
	Counters     []string      `json:"counters"`
	Calibrations []Calibration `json:"calibrations"`
	Segments     []Segment     `json:"segments"`
	Parent       *Parent       `json:"parent,omitempty"`
	Context      [][]string    `json:"context"` // of two each
	Types        []Type        `json:"types"`
	Events       []Event       `json:"events"`
}

// Calibration of the header.
type Calibration struct {
	Tick             uint64 `json:"tick,string"`
	MonotonicNs      uint64 `json:"monotonic_ns,string"`
	RealtimeOffsetNs int64  `json:"realtime_offset_ns,string"`
	ErrorNs          uint32 `json:"error_ns"`
	Step             bool   `json:"step"`
}

// Segment of the header.
type Segment struct {
	Thread uint64 `json:"thread,string"`
	Events uint32 `json:"events"`
}

// Parent of a derived batch.
type Parent struct {
	Incarnation string `json:"incarnation"`
	Sequence    uint64 `json:"sequence,string"`
	Route       uint16 `json:"route"`
	EventsIn    uint32 `json:"events_in"`
	EventsOut   uint32 `json:"events_out"`
}

// Type of events.
type Type struct {
	Number    uint16     `json:"number"`
	Hash      string     `json:"hash"`
	Level     string     `json:"level"`
	Name      string     `json:"name"`
	Fields    []Field    `json:"fields"`
	Constants []Constant `json:"constants"`
}

// Field of a type.
type Field struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// Constant of a type.
type Constant struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Value any    `json:"value"`
}

// Event with its fields' values in the order of its type.
type Event struct {
	Type   uint16 `json:"type"`
	Tick   uint64 `json:"tick,string"`
	TimeNs int64  `json:"time_ns,string"`
	Fields []any  `json:"fields"`
}

var (
	byteOrders   = []string{"little", "big"}
	compressions = []string{"none", "lz4", "zstd"}
	clocks       = []string{"ticks", "monotonic"}
	flagNames    = []string{"FINAL", "RECOVERED", "CLOCK_UNCERTAIN", "DERIVED"} // by bit
)
