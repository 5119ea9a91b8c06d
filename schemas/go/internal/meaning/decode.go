package meaning

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	llb "lifeline/schemas/go"
)

// Decode returns the meaning of the batch that r has read.
func Decode(r *llb.Reader) *Batch {
	h := r.Header()
	batch := &Batch{
		Version:      1,
		ByteOrder:    "little",
		Compression:  compressions[h.Compression],
		Shuffle:      h.Shuffle,
		Flags:        []string{},
		Incarnation:  hex.EncodeToString(h.Incarnation[:]),
		Sequence:     h.Sequence,
		BaseTick:     h.BaseTick,
		TickHz:       h.TickHz,
		Clock:        clocks[h.Clock],
		PID:          h.PID,
		Route:        h.Route,
		RouteName:    h.RouteName,
		Host:         h.Host,
		Program:      h.Program,
		Counters:     make([]string, len(h.Counters)),
		Calibrations: make([]Calibration, len(h.Calibrations)),
		Segments:     make([]Segment, len(h.Segments)),
		Context:      make([][]string, len(h.Context)),
		Types:        make([]Type, len(r.Types())),
		Events:       make([]Event, 0, h.EventCount),
	}
	if h.BigEndian {
		batch.ByteOrder = "big"
	}
	for bit, name := range flagNames {
		if h.Flags>>bit&1 != 0 {
			batch.Flags = append(batch.Flags, name)
		}
	}
	for i, counter := range h.Counters {
		batch.Counters[i] = strconv.FormatUint(counter, 10)
	}
	for i, c := range h.Calibrations {
		batch.Calibrations[i] = Calibration(c)
	}
	for i, segment := range h.Segments {
		batch.Segments[i] = Segment{segment.Thread, segment.Events}
	}
	if p := h.Parent; p != nil {
		batch.Parent = &Parent{hex.EncodeToString(p.Incarnation[:]), p.Sequence, p.Route, p.EventsIn, p.EventsOut}
	}
	for i, pair := range h.Context {
		batch.Context[i] = []string{pair.Key, pair.Value}
	}
	for i, descriptor := range r.Types() {
		batch.Types[i] = decodeType(descriptor)
	}
	for r.Next() {
		batch.Events = append(batch.Events, decodeEvent(r))
	}
	return batch
}

func decodeType(d llb.Descriptor) Type {
	t := Type{
		Number:    d.Number,
		Hash:      fmt.Sprintf("%016x", d.Hash),
		Level:     d.Level.String(),
		Name:      d.Name,
		Fields:    make([]Field, len(d.Fields)),
		Constants: make([]Constant, len(d.Constants)),
	}
	for i, f := range d.Fields {
		t.Fields[i] = Field{f.Type.String(), f.Name, f.Unit}
	}
	for i := range d.Constants {
		c := &d.Constants[i]
		t.Constants[i] = Constant{c.Type.String(), c.Name, c.Unit, constantValue(c)}
	}
	return t
}

func constantValue(c *llb.Constant) any {
	switch c.Type {
	case llb.I32:
		return c.Int64()
	case llb.U32:
		return c.Uint64()
	case llb.I64:
		return strconv.FormatInt(c.Int64(), 10)
	case llb.U64:
		return strconv.FormatUint(c.Uint64(), 10)
	case llb.F32:
		return float32Value(c.Float32())
	case llb.F64:
		return float64Value(c.Float64())
	case llb.Bool:
		return c.Uint64() == 1
	case llb.String:
		return string(c.Raw)
	default:
		return hex.EncodeToString(c.Raw)
	}
}

func decodeEvent(r *llb.Reader) Event {
	kind := r.Type()
	event := Event{Type: r.Number(), Tick: r.Tick(), TimeNs: r.TimeNs(), Fields: make([]any, len(kind.Fields))}
	for i := range kind.Fields {
		event.Fields[i] = fieldValue(r, kind.Fields[i].Type, i)
	}
	return event
}

func fieldValue(r *llb.Reader, kind llb.FieldType, field int) any {
	switch kind {
	case llb.I32:
		return r.Int32(field)
	case llb.U32:
		return r.Uint32(field)
	case llb.I64:
		return strconv.FormatInt(r.Int64(field), 10)
	case llb.U64:
		return strconv.FormatUint(r.Uint64(field), 10)
	case llb.F32:
		return float32Value(r.Float32(field))
	case llb.F64:
		return float64Value(r.Float64(field))
	case llb.Bool:
		return r.Bool(field)
	case llb.String:
		return r.String(field)
	default:
		return hex.EncodeToString(r.Bytes(field))
	}
}

func float32Value(value float32) any {
	if value != value {
		return fmt.Sprintf("nan:%08x", math.Float32bits(value))
	}
	return finite(float64(value), 32)
}

func float64Value(value float64) any {
	if value != value {
		return fmt.Sprintf("nan:%016x", math.Float64bits(value))
	}
	return finite(value, 64)
}

func finite(value float64, bits int) any {
	switch {
	case math.IsInf(value, 1):
		return "inf"
	case math.IsInf(value, -1):
		return "-inf"
	case value == 0 && math.Signbit(value):
		return "-0"
	}
	return json.Number(strconv.FormatFloat(value, 'g', -1, bits))
}
