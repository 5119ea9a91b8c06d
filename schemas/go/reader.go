package llb

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Reader reads batches, one after the other, and keeps its buffers and event types from one to the next. It is not
// safe for concurrent use. The zero value is ready.
//
//	var r llb.Reader
//	if err := r.Read(message); err != nil { ... }
//	for r.Next() {
//		use(r.TimeNs(), r.Type().Name, r.Int32(0))
//	}
type Reader struct {
	data  []byte
	frame frame

	header       Header
	descriptors  []Descriptor
	numbers      []uint16 // index into descriptors plus 1, by type number; 0 is unknown
	time         timeline
	interner     interner
	decompressor decompressor

	order byteOrder
	raw   []byte // the events, decompressed
	runs  []run  // of all of them, in order

	next     int // the run behind the current one
	segment  int // of the current run
	at, size int // the current record
	end      int // of its run
	index    int
	kind     *EventType
	number   uint16
	places   []place // of its fields
	computed [math.MaxUint8]place
}

// run is a part of raw whose records have one type and one size. A record with strings or bytes is a run of its own.
type run struct {
	at, end, size int32
	segment       uint32
	descriptor    uint16
}

// Read checks the whole batch in data, and makes its header and events available. It keeps data, which must not change
// until the next Read. The error is a *Rejection; after an error there is nothing to deliver.
func (r *Reader) Read(data []byte) error {
	r.forget()
	r.data = data
	if rejection := r.check(); rejection != nil {
		r.forget()
		return rejection
	}
	r.Rewind()
	return nil
}

func (r *Reader) forget() {
	for _, descriptor := range r.descriptors {
		r.numbers[descriptor.Number] = 0
	}
	r.descriptors = r.descriptors[:0]
	r.header.Segments = r.header.Segments[:0]
	r.runs = r.runs[:0]
	r.data, r.raw = nil, nil
	r.Rewind()
}

func (r *Reader) check() *Rejection {
	var rejection *Rejection
	if r.frame, rejection = readFrame(r.data); rejection != nil {
		return rejection
	}
	r.order = r.frame.order
	crcAt := r.frame.end
	if crc32.Checksum(r.data[:crcAt], castagnoli) != r.order.u32(r.data[crcAt:]) {
		return &Rejection{BadCRC, crcAt, "the CRC is not the bytes'"}
	}
	var structure findings
	r.readHeader(&structure)
	r.readDescriptors(&structure)
	if structure.first != nil {
		return structure.first
	}
	if rejection := r.decompress(r.data[r.frame.events:r.frame.end]); rejection != nil {
		return rejection
	}
	return r.checkRecords()
}

func (r *Reader) readDescriptors(found *findings) {
	if r.numbers == nil {
		r.numbers = make([]uint16, 1<<16)
	}
	for at := r.frame.descriptors; at < r.frame.events; {
		length := 0
		if r.frame.events-at >= 4 {
			length = int(r.order.u32(r.data[at:]))
		}
		if length < 8 || length%8 != 0 || length > r.frame.events-at {
			found.add(BadLength, at, "a descriptor's length does not fit its section")
			return
		}
		c := cursor{data: r.data, order: r.order, at: at, end: at + length}
		number := r.order.u16(r.data[at+entOffNumber:])
		kind := r.interner.read(&c, found)
		switch {
		case number == 0:
			found.add(BadDescriptor, at+entOffNumber, "a type's number is 0")
		case r.numbers[number] != 0:
			found.add(BadDescriptor, at+entOffNumber, "two types have the number %d", number)
		default:
			r.descriptors = append(r.descriptors, Descriptor{number, kind})
			r.numbers[number] = uint16(len(r.descriptors))
		}
		at += length
	}
}

func (r *Reader) decompress(stored []byte) *Rejection {
	r.raw = stored
	if r.header.Compression == None {
		return nil
	}
	raw, ok := r.decompressor.expand(&r.header, stored, r.frame.raw)
	if !ok {
		return &Rejection{BadCompression, r.frame.events, "the events do not decompress to events_raw_length bytes"}
	}
	r.raw = raw
	return nil
}

// checkRecords checks all records, so that iterating over them cannot fail.
func (r *Reader) checkRecords() *Rejection {
	start := 0
	for i := range r.header.Segments {
		segment := &r.header.Segments[i]
		end := start + int(segment.Bytes)
		count, rejection := r.walk(uint32(i), start, end)
		if rejection != nil {
			return rejection
		}
		if count != segment.Events {
			return r.rejectAt(start, BadCount, "a segment of %d records says that it has %d", count, segment.Events)
		}
		start = end
	}
	return nil
}

func (r *Reader) rejectAt(at int, code Code, format string, arguments ...any) *Rejection {
	return &Rejection{code, r.frame.events + at, fmt.Sprintf(format, arguments...)}
}

// walk appends the runs of a segment, whose records are between at and end, and counts them.
func (r *Reader) walk(segment uint32, at, end int) (count uint32, rejection *Rejection) {
	raw, numberAt := r.raw[:end], r.order.lowest16()
	for at < end {
		number := uint16(r.order.u64(raw[at:]))
		index := r.numbers[number]
		if index == 0 {
			return 0, r.rejectAt(at, UnknownType, "a record of type %d, which has no descriptor", number)
		}
		start, kind := at, r.descriptors[index-1].EventType
		size := kind.fixedSize()
		if size == 0 {
			if size, rejection = r.checkFields(kind, at, end); rejection != nil {
				return 0, rejection
			}
		}
		if size > end-at || size > MaxRecordLength {
			return 0, r.rejectAt(at, BadRecord, "a record runs over its segment's end or %d bytes", MaxRecordLength)
		}
		at += size
		count++
		if kind.fixedSize() > 0 {
			same := binary.NativeEndian.Uint16(raw[start+numberAt:])
			for at <= end-size && binary.NativeEndian.Uint16(raw[at+numberAt:]) == same {
				at += size
				count++
			}
		}
		r.runs = append(r.runs, run{int32(start), int32(at), int32(size), segment, index - 1})
	}
	return count, nil
}

// checkFields returns the size of the record at `at`.
func (r *Reader) checkFields(kind *EventType, at, end int) (int, *Rejection) {
	p := at + 8
	for i := range kind.Fields {
		size := fixedSizes[kind.Fields[i].Type]
		if size == 0 && end-p >= 2 {
			size = 2 + int(r.order.u16(r.raw[p:]))
		}
		if size == 0 || size > end-p {
			return 0, r.rejectAt(p, BadRecord, "a field runs over its segment's end")
		}
		if kind.Fields[i].Type == Bool && r.raw[p] > 1 {
			return 0, r.rejectAt(p, BadRecord, "a bool is neither 0 nor 1")
		}
		p += size
	}
	return padded(p - at), nil
}
