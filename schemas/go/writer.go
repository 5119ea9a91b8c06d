package llb

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Writer builds one batch: its header, then types, then segments of events.
//
//	w := llb.NewWriter(header)
//	w.AddType(1, kind)
//	w.BeginSegment(thread)
//	w.BeginEvent(1, tick)
//	w.Int32(4)
//	batch, err := w.Bytes()
//
// Bytes reports all errors; it also reads the batch back, so a Writer never returns a batch that a Reader rejects.
type Writer struct {
	header      Header
	order       byteOrder
	descriptors []byte
	types       map[uint16]*EventType
	raw         []byte

	segmentStart int        // of the last segment, in raw
	kind         *EventType // of the event being written
	field        int
	err          error
}

// NewWriter begins a batch. EventCount and Segments of the header are set from the events that are written.
func NewWriter(header Header) *Writer {
	header.Segments = nil
	header.EventCount = 0
	return &Writer{header: header, order: byteOrder{header.BigEndian}, types: make(map[uint16]*EventType)}
}

func (w *Writer) fail(format string, arguments ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, arguments...)
	}
}

// AddType describes a type and computes its hash.
func (w *Writer) AddType(number uint16, t *EventType) {
	if len(t.Fields) > math.MaxUint8 || len(t.Constants) > math.MaxUint8 {
		w.fail("type %s has more than 255 fields or constants", t.Name)
		return
	}
	if !t.fits() {
		w.fail("type %.20s has a text, or a constant, of more than 65,535 bytes or of another size than its type", t.Name)
		return
	}
	start := len(w.descriptors)
	d := w.order.appendU32(w.descriptors, 0)
	d = w.order.appendU16(d, number)
	d = w.order.appendU16(d, 0)
	d = w.order.appendU64(d, fnv1a64(t.Identity()))
	d = append(d, byte(t.Level), byte(len(t.Fields)), byte(len(t.Constants)), 0)
	d = appendStr16(d, w.order, t.Name)
	for i := range t.Fields {
		d = t.Fields[i].appendTo(d, w.order)
	}
	for i := range t.Constants {
		d = t.Constants[i].appendTo(d, w.order)
	}
	w.descriptors = appendPadding(d)
	w.order.putU32(w.descriptors[start:], uint32(len(w.descriptors)-start))
	w.types[number] = t
}

func (w *Writer) str16(to []byte, text string) []byte {
	if len(text) > math.MaxUint16 {
		w.fail("a text of %d bytes is longer than 65,535", len(text))
		text = ""
	}
	return appendStr16(to, w.order, text)
}

// BeginSegment begins a run of events of one thread.
func (w *Writer) BeginSegment(thread uint64) {
	w.endEvent()
	w.segmentStart = len(w.raw)
	w.header.Segments = append(w.header.Segments, Segment{Thread: thread})
}

// BeginEvent begins an event, whose fields follow in the order of its type.
func (w *Writer) BeginEvent(number uint16, tick uint64) {
	w.endEvent()
	if len(w.header.Segments) == 0 {
		w.fail("an event needs a segment")
		return
	}
	if w.types[number] == nil {
		w.fail("type number %d has not been added", number)
		return
	}
	if fullTick(w.header.BaseTick, tick) != tick {
		w.fail("tick %d is further from base_tick %d than 48 bits reach", tick, w.header.BaseTick)
		return
	}
	w.kind, w.field = w.types[number], 0
	w.raw = w.order.appendU64(w.raw, tick<<16|uint64(number))
	w.header.Segments[len(w.header.Segments)-1].Events++
	w.header.EventCount++
}

func (w *Writer) endEvent() {
	if w.kind != nil && w.field != len(w.kind.Fields) {
		w.fail("an event of type %s has %d fields, and %d were written", w.kind.Name, len(w.kind.Fields), w.field)
	}
	w.kind = nil
	w.raw = appendPadding(w.raw)
	if last := len(w.header.Segments) - 1; last >= 0 {
		w.header.Segments[last].Bytes = uint32(len(w.raw) - w.segmentStart)
	}
}

// expect moves to the next field, if it is of this type.
func (w *Writer) expect(kind FieldType) bool {
	if w.kind == nil || w.field >= len(w.kind.Fields) || w.kind.Fields[w.field].Type != kind {
		w.fail("a value of type %s does not fit the event's next field", kind)
		return false
	}
	w.field++
	return true
}

// Int32 writes a field of type i32.
func (w *Writer) Int32(value int32) { w.write32(I32, uint32(value)) }

// Int64 writes a field of type i64.
func (w *Writer) Int64(value int64) { w.write64(I64, uint64(value)) }

// Uint32 writes a field of type u32.
func (w *Writer) Uint32(value uint32) { w.write32(U32, value) }

// Uint64 writes a field of type u64.
func (w *Writer) Uint64(value uint64) { w.write64(U64, value) }

// Float32 writes a field of type f32, bit-exactly.
func (w *Writer) Float32(value float32) { w.write32(F32, math.Float32bits(value)) }

// Float64 writes a field of type f64, bit-exactly.
func (w *Writer) Float64(value float64) { w.write64(F64, math.Float64bits(value)) }

// Bool writes a field of type bool.
func (w *Writer) Bool(value bool) {
	if w.expect(Bool) {
		w.raw = append(w.raw, boolByte(value))
	}
}

// String writes a field of type string.
func (w *Writer) String(value string) {
	if w.expect(String) {
		w.raw = w.str16(w.raw, value)
	}
}

// Blob writes a field of type bytes.
func (w *Writer) Blob(value []byte) {
	if w.expect(Bytes) {
		w.raw = w.str16(w.raw, string(value))
	}
}

func (w *Writer) write32(kind FieldType, bits uint32) {
	if w.expect(kind) {
		w.raw = w.order.appendU32(w.raw, bits)
	}
}

func (w *Writer) write64(kind FieldType, bits uint64) {
	if w.expect(kind) {
		w.raw = w.order.appendU64(w.raw, bits)
	}
}

// Bytes ends the batch and returns it.
func (w *Writer) Bytes() ([]byte, error) {
	w.endEvent()
	h := &w.header
	if max(len(h.Counters), len(h.Calibrations), len(h.Segments), len(h.Context)) > math.MaxUint16 {
		w.fail("a header holds at most 65,535 counters, calibrations, segments and context pairs each")
	}
	if (h.Flags&Derived != 0) != (h.Parent != nil) {
		w.fail("a batch has a parent if, and only if, it is derived")
	}
	if w.err != nil {
		return nil, w.err
	}
	stored, err := w.compress()
	if err != nil {
		return nil, err
	}
	b := w.headerBytes(len(stored))
	if w.err != nil { // from a text in the header
		return nil, w.err
	}
	b = append(b, w.descriptors...)
	b = append(b, stored...)
	w.order.putU32(b[offTotalLength:], uint32(len(b)+crcLength))
	b = w.order.appendU32(b, crc32.Checksum(b, castagnoli))
	if err := new(Reader).Read(b); err != nil {
		return nil, fmt.Errorf("this is no legal batch: %w", err)
	}
	return b, nil
}

// headerBytes returns the header, with a total_length of 0.
func (w *Writer) headerBytes(stored int) []byte {
	h, o := &w.header, w.order
	b := append([]byte(magic), version, boolByte(h.BigEndian), byte(h.Compression), h.Shuffle)
	b = o.appendU32(b, uint32(h.Flags))
	b = o.appendU32(b, 0) // header_length
	b = append(b, h.Incarnation[:]...)
	b = o.appendU64(b, h.Sequence)
	b = o.appendU64(b, h.BaseTick)
	b = o.appendU64(b, h.TickHz)
	b = o.appendU32(b, 0) // total_length
	b = o.appendU32(b, uint32(len(w.descriptors)))
	b = o.appendU32(b, uint32(stored))
	b = o.appendU32(b, uint32(len(w.raw)))
	b = o.appendU32(b, h.EventCount)
	b = o.appendU32(b, h.PID)
	b = o.appendU16(b, h.Route)
	b = o.appendU16(b, uint16(len(h.Counters)))
	b = o.appendU16(b, uint16(len(h.Calibrations)))
	b = o.appendU16(b, uint16(len(h.Segments)))
	b = o.appendU16(b, uint16(len(h.Context)))
	b = append(b, byte(h.Clock), 0, 0, 0, 0, 0)
	for _, counter := range h.Counters {
		b = o.appendU64(b, counter)
	}
	for _, c := range h.Calibrations {
		b = o.appendU64(b, c.Tick)
		b = o.appendU64(b, c.MonotonicNs)
		b = o.appendU64(b, uint64(c.RealtimeOffsetNs))
		b = o.appendU32(b, c.ErrorNs)
		b = o.appendU32(b, uint32(boolByte(c.Step)))
	}
	for _, segment := range h.Segments {
		b = o.appendU64(b, segment.Thread)
		b = o.appendU32(b, segment.Bytes)
		b = o.appendU32(b, segment.Events)
	}
	if p := h.Parent; p != nil {
		b = append(b, p.Incarnation[:]...)
		b = o.appendU64(b, p.Sequence)
		b = o.appendU16(b, p.Route)
		b = o.appendU16(b, 0)
		b = o.appendU32(b, p.EventsIn)
		b = o.appendU32(b, p.EventsOut)
		b = o.appendU32(b, 0)
	}
	b = w.str16(b, h.Host)
	b = w.str16(b, h.Program)
	b = w.str16(b, h.RouteName)
	for _, pair := range h.Context {
		b = w.str16(b, pair.Key)
		b = w.str16(b, pair.Value)
	}
	b = appendPadding(b)
	o.putU32(b[offHeaderLength:], uint32(len(b)))
	return b
}

// compress returns the events as they are stored.
func (w *Writer) compress() ([]byte, error) {
	raw := w.raw
	if stride := int(w.header.Shuffle &^ TickDifferences); stride > 0 {
		rows := raw
		if w.header.Shuffle&TickDifferences != 0 {
			rows = slices.Clone(rows)
			ticksToDifferences(rows, stride, w.order)
		}
		raw = make([]byte, len(rows))
		shuffle(raw, rows, stride)
	}
	switch w.header.Compression {
	case None:
		return w.raw, nil
	case LZ4:
		return compressLZ4(raw)
	case Zstd:
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		return encoder.EncodeAll(raw, nil), nil
	default:
		return nil, errors.New("unknown compression")
	}
}

func compressLZ4(raw []byte) ([]byte, error) {
	stored := make([]byte, lz4.CompressBlockBound(len(raw)))
	var compressor lz4.Compressor
	n, err := compressor.CompressBlock(raw, stored)
	if err != nil {
		return nil, err
	}
	if n == 0 { // the library returns 0 for "no match found"
		return literalBlock(raw), nil
	}
	return stored[:n], nil
}

// literalBlock returns an LZ4 block of one sequence without a match.
func literalBlock(raw []byte) []byte {
	length := len(raw)
	if length < 15 {
		return append([]byte{byte(length << 4)}, raw...)
	}
	block := []byte{0xf0}
	for length -= 15; length >= 255; length -= 255 {
		block = append(block, 255)
	}
	return append(append(block, byte(length)), raw...)
}

func boolByte(value bool) byte {
	if value {
		return 1
	}
	return 0
}
