package llb

import "math"

// Header returns the header of the batch. It is valid until the next Read.
func (r *Reader) Header() *Header { return &r.header }

// Types returns the types that the batch describes. The slice is valid until the next Read, the types forever.
func (r *Reader) Types() []Descriptor { return r.descriptors }

// CRC returns the CRC-32C that the batch carries.
func (r *Reader) CRC() uint32 { return r.order.u32(r.data[r.frame.end:]) }

// Rewind moves back before the first event.
func (r *Reader) Rewind() {
	r.next, r.index = 0, -1
	r.at, r.size, r.end = 0, 0, 0
	r.kind, r.places = nil, nil
}

// fullTick returns the tick nearest to base that has those low 48 bits: the distance is sign-extended from 48 bits.
// FORMAT.md, section 6.
func fullTick(base, tick48 uint64) uint64 {
	return base + uint64(int64((tick48-base)<<16)>>16)
}

// Next moves to the next event, and returns false after the last one.
func (r *Reader) Next() bool {
	r.index++
	if r.at += r.size; r.at < r.end {
		return true
	}
	return r.nextRun()
}

func (r *Reader) nextRun() bool {
	if r.next == len(r.runs) {
		r.index--
		r.at -= r.size // the last event stays the current one
		return false
	}
	run := &r.runs[r.next]
	r.next++
	r.at, r.size, r.end, r.segment = int(run.at), int(run.size), int(run.end), int(run.segment)
	descriptor := &r.descriptors[run.descriptor]
	r.kind, r.number, r.places = descriptor.EventType, descriptor.Number, descriptor.places
	if r.kind.size == 0 {
		r.locate()
	}
	return true
}

// locate finds the fields of a record with strings or bytes.
func (r *Reader) locate() {
	at := r.at + 8
	for i, known := range r.kind.places {
		r.computed[i] = place{known.kind, uint16(at - r.at)}
		if size := fixedSizes[known.kind]; size > 0 {
			at += size
		} else {
			at += 2 + int(r.order.u16(r.raw[at:]))
		}
	}
	r.places = r.computed[:len(r.kind.places)]
}

// Type returns the type of the event.
func (r *Reader) Type() *EventType { return r.kind }

// Number returns the number of the event's type in this batch.
func (r *Reader) Number() uint16 { return r.number }

// Index returns the event's index in the batch, from 0.
func (r *Reader) Index() int { return r.index }

// Thread returns the kernel's ID of the thread that emitted the event.
func (r *Reader) Thread() uint64 { return r.header.Segments[r.segment].Thread }

// Tick returns the event's full tick.
func (r *Reader) Tick() uint64 { return fullTick(r.header.BaseTick, r.order.u64(r.raw[r.at:])>>16) }

// TimeNs returns the event's time in nanoseconds since the Unix epoch; all readers return the same number.
func (r *Reader) TimeNs() int64 { return r.time.timeNs(r.Tick()) }

// The values of the event's fields. Each getter panics if the field has another type, as with an index out of range;
// see Type().Fields for the types.

// Int32 returns a field of type i32.
func (r *Reader) Int32(field int) int32 { return int32(r.load32(field, I32)) }

// Int64 returns a field of type i64.
func (r *Reader) Int64(field int) int64 { return int64(r.load64(field, I64)) }

// Uint32 returns a field of type u32.
func (r *Reader) Uint32(field int) uint32 { return r.load32(field, U32) }

// Uint64 returns a field of type u64.
func (r *Reader) Uint64(field int) uint64 { return r.load64(field, U64) }

// Float32 returns a field of type f32.
func (r *Reader) Float32(field int) float32 { return math.Float32frombits(r.load32(field, F32)) }

// Float64 returns a field of type f64.
func (r *Reader) Float64(field int) float64 { return math.Float64frombits(r.load64(field, F64)) }

// Bool returns a field of type bool.
func (r *Reader) Bool(field int) bool { return r.value(field, Bool)[0] != 0 }

// RawString returns the bytes of a field of type string as the program emitted them; AppendText and Text convert them
// to text. They are valid until the next Read.
func (r *Reader) RawString(field int) []byte { return r.sized(r.value(field, String)) }

// Bytes returns a field of type bytes, valid until the next Read.
func (r *Reader) Bytes(field int) []byte { return r.sized(r.value(field, Bytes)) }

// String returns a field of type string as text. Unlike all other getters it allocates.
func (r *Reader) String(field int) string { return Text(r.RawString(field)) }

// Not inlined, so that the getters are: one call for each field.
//
//go:noinline
func (r *Reader) load32(field int, kind FieldType) uint32 {
	p := r.places[field]
	if p.kind != kind {
		r.refuse(field, kind)
	}
	return r.order.u32(r.raw[r.at+int(p.offset):])
}

//go:noinline
func (r *Reader) load64(field int, kind FieldType) uint64 {
	p := r.places[field]
	if p.kind != kind {
		r.refuse(field, kind)
	}
	return r.order.u64(r.raw[r.at+int(p.offset):])
}

func (r *Reader) sized(value []byte) []byte {
	length := int(r.order.u16(value))
	return value[2 : 2+length : 2+length]
}

// value returns the events from the field on.
func (r *Reader) value(field int, kind FieldType) []byte {
	p := r.places[field]
	if p.kind != kind {
		r.refuse(field, kind)
	}
	return r.raw[r.at+int(p.offset):]
}

//go:noinline
func (r *Reader) refuse(field int, kind FieldType) {
	f := &r.kind.Fields[field]
	panic("llb: field " + f.Name + " of " + r.kind.Name + " is of type " + f.Type.String() + ", not " + kind.String())
}
