package meaning

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	llb "lifeline/schemas/go"
)

// Parse reads a meaning that has every member except optional ones.
func Parse(text []byte) (*Batch, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("this is no JSON meaning of a batch: %w", err)
	}
	fields := reflect.TypeFor[Batch]()
	for i := range fields.NumField() {
		name, options, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if _, there := members[name]; !there && options != "omitempty" {
			return nil, fmt.Errorf("the JSON meaning has no %q", name)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	var batch Batch
	if err := decoder.Decode(&batch); err != nil {
		return nil, fmt.Errorf("this is no JSON meaning of a batch: %w", err)
	}
	return &batch, nil
}

// Encode returns the batch's bytes, from its meaning alone.
func Encode(batch *Batch) ([]byte, error) {
	header, err := batch.header()
	if err != nil {
		return nil, err
	}
	w := llb.NewWriter(*header)
	fields := make(map[uint16][]Field)
	for i := range batch.Types {
		kind, err := batch.Types[i].eventType()
		if err != nil {
			return nil, fmt.Errorf("types[%d]: %w", i, err)
		}
		w.AddType(batch.Types[i].Number, kind)
		fields[batch.Types[i].Number] = batch.Types[i].Fields
	}
	events := batch.Events
	for i, segment := range batch.Segments {
		if int64(segment.Events) > int64(len(events)) {
			return nil, fmt.Errorf("segments[%d]: more events than there are", i)
		}
		w.BeginSegment(segment.Thread)
		for j := range events[:segment.Events] {
			if err := writeEvent(w, &events[j], fields[events[j].Type]); err != nil {
				return nil, fmt.Errorf("segments[%d], event %d: %w", i, j, err)
			}
		}
		events = events[segment.Events:]
	}
	if len(events) > 0 {
		return nil, fmt.Errorf("%d events are in no segment", len(events))
	}
	return w.Bytes()
}

func (batch *Batch) header() (*llb.Header, error) {
	order := slices.Index(byteOrders, batch.ByteOrder)
	compression := slices.Index(compressions, batch.Compression)
	clock := slices.Index(clocks, batch.Clock)
	if batch.Version != 1 || order < 0 || compression < 0 || clock < 0 {
		return nil, fmt.Errorf("unknown version, byte_order, compression or clock")
	}
	incarnation, err := decodeIncarnation(batch.Incarnation)
	if err != nil {
		return nil, err
	}
	h := &llb.Header{
		BigEndian:   order == 1,
		Compression: llb.Compression(compression),
		Shuffle:     batch.Shuffle,
		Incarnation: incarnation,
		Sequence:    batch.Sequence,
		BaseTick:    batch.BaseTick,
		TickHz:      batch.TickHz,
		Clock:       llb.Clock(clock),
		PID:         batch.PID,
		Route:       batch.Route,
		RouteName:   batch.RouteName,
		Host:        batch.Host,
		Program:     batch.Program,
	}
	for _, name := range batch.Flags {
		bit := slices.Index(flagNames, name)
		if bit < 0 {
			return nil, fmt.Errorf("unknown flag %q", name)
		}
		h.Flags |= 1 << bit
	}
	for i, text := range batch.Counters {
		counter, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("counters[%d]: %w", i, err)
		}
		h.Counters = append(h.Counters, counter)
	}
	for _, c := range batch.Calibrations {
		h.Calibrations = append(h.Calibrations, llb.Calibration(c))
	}
	for i, pair := range batch.Context {
		if len(pair) != 2 {
			return nil, fmt.Errorf("context[%d]: not a key and a value", i)
		}
		h.Context = append(h.Context, llb.KeyValue{Key: pair[0], Value: pair[1]})
	}
	if p := batch.Parent; p != nil {
		incarnation, err := decodeIncarnation(p.Incarnation)
		if err != nil {
			return nil, fmt.Errorf("parent: %w", err)
		}
		h.Parent = &llb.Parent{
			Incarnation: incarnation,
			Sequence:    p.Sequence,
			Route:       p.Route,
			EventsIn:    p.EventsIn,
			EventsOut:   p.EventsOut,
		}
	}
	return h, nil
}

func decodeIncarnation(digits string) (incarnation [16]byte, err error) {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != len(incarnation) {
		return incarnation, fmt.Errorf("an incarnation is 32 hex digits")
	}
	return [16]byte(raw), nil
}

func (t *Type) eventType() (*llb.EventType, error) {
	level, ok := llb.LevelNamed(t.Level)
	if !ok {
		return nil, fmt.Errorf("unknown level %q", t.Level)
	}
	kind := &llb.EventType{Level: level, Name: t.Name}
	for _, f := range t.Fields {
		field, err := f.field()
		if err != nil {
			return nil, err
		}
		kind.Fields = append(kind.Fields, field)
	}
	for _, c := range t.Constants {
		field, err := Field{c.Type, c.Name, c.Unit}.field()
		if err != nil {
			return nil, err
		}
		raw, err := constantBytes(field.Type, c.Value)
		if err != nil {
			return nil, fmt.Errorf("constant %s: %w", c.Name, err)
		}
		kind.Constants = append(kind.Constants, llb.Constant{Field: field, Raw: raw})
	}
	return kind, nil
}

func (f Field) field() (llb.Field, error) {
	kind, ok := llb.FieldTypeNamed(f.Type)
	if !ok {
		return llb.Field{}, fmt.Errorf("unknown field type %q", f.Type)
	}
	return llb.Field{Type: kind, Name: f.Name, Unit: f.Unit}, nil
}

func constantBytes(kind llb.FieldType, value any) ([]byte, error) {
	parsed, err := parse(kind, value)
	if err != nil {
		return nil, err
	}
	switch v := parsed.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	default:
		return binary.Append(nil, binary.LittleEndian, v)
	}
}

func writeEvent(w *llb.Writer, event *Event, fields []Field) error {
	if len(fields) != len(event.Fields) {
		return fmt.Errorf("%d values for the %d fields of type %d", len(event.Fields), len(fields), event.Type)
	}
	w.BeginEvent(event.Type, event.Tick)
	for i, value := range event.Fields {
		kind, _ := llb.FieldTypeNamed(fields[i].Type)
		parsed, err := parse(kind, value)
		if err != nil {
			return fmt.Errorf("field %s: %w", fields[i].Name, err)
		}
		switch v := parsed.(type) {
		case int32:
			w.Int32(v)
		case int64:
			w.Int64(v)
		case uint32:
			w.Uint32(v)
		case uint64:
			w.Uint64(v)
		case float32:
			w.Float32(v)
		case float64:
			w.Float64(v)
		case bool:
			w.Bool(v)
		case string:
			w.String(v)
		case []byte:
			w.Blob(v)
		}
	}
	return nil
}

// parse returns the value as the Go type of its field type.
func parse(kind llb.FieldType, value any) (any, error) {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	switch {
	case kind == llb.I32 && isNumber:
		parsed, err := strconv.ParseInt(number.String(), 10, 32)
		return int32(parsed), err
	case kind == llb.U32 && isNumber:
		parsed, err := strconv.ParseUint(number.String(), 10, 32)
		return uint32(parsed), err
	case kind == llb.I64 && isText:
		return strconv.ParseInt(text, 10, 64)
	case kind == llb.U64 && isText:
		return strconv.ParseUint(text, 10, 64)
	case kind == llb.F32 && (isNumber || isText):
		bits, err := floatBits(number.String()+text, isNumber, 32)
		return math.Float32frombits(uint32(bits)), err
	case kind == llb.F64 && (isNumber || isText):
		bits, err := floatBits(number.String()+text, isNumber, 64)
		return math.Float64frombits(bits), err
	case kind == llb.String && isText:
		return text, nil
	case kind == llb.Bytes && isText:
		return hex.DecodeString(text)
	case kind == llb.Bool:
		if truth, ok := value.(bool); ok {
			return truth, nil
		}
	}
	return nil, fmt.Errorf("this JSON value is no %s", kind)
}

// floatBits returns the bits of a JSON number, or of the words for values that JSON numbers cannot express.
func floatBits(text string, isNumber bool, size int) (uint64, error) {
	if digits, isNaN := strings.CutPrefix(text, "nan:"); isNaN {
		bits, err := strconv.ParseUint(digits, 16, size)
		isNaN = size == 32 && bits<<1 > 0xff<<24 || size == 64 && bits<<1 > 0x7ff<<53
		if err != nil || len(digits) != size/4 || !isNaN {
			return 0, fmt.Errorf("%q has no bits of a NaN", text)
		}
		return bits, nil
	}
	if !isNumber && text != "-0" && text != "inf" && text != "-inf" {
		return 0, fmt.Errorf("unknown float %q", text)
	}
	value, err := strconv.ParseFloat(text, size)
	if size == 32 {
		return uint64(math.Float32bits(float32(value))), err
	}
	return math.Float64bits(value), err
}
