package llb

import "unicode/utf8"

// Header is the header of a batch.
type Header struct {
	BigEndian   bool
	Compression Compression
	Shuffle     uint8 // 0, or the stride of the byte shuffle, | TickDifferences
	Flags       Flags
	Incarnation [16]byte
	Sequence    uint64
	BaseTick    uint64
	TickHz      uint64
	Clock       Clock
	PID         uint32
	Route       uint16
	RouteName   string
	Host        string
	Program     string
	EventCount  uint32

	Counters     []uint64 // at least KnownCounters
	Calibrations []Calibration
	Segments     []Segment
	Parent       *Parent // only with the flag Derived
	Context      []KeyValue
}

// Segment is a run of records of one thread.
type Segment struct {
	Thread uint64
	Bytes  uint32
	Events uint32
}

// Parent is the batch that a filter made this one from.
type Parent struct {
	Incarnation         [16]byte
	Sequence            uint64
	Route               uint16
	EventsIn, EventsOut uint32
}

// KeyValue is one entry of the context. Keys may repeat; the last one counts.
type KeyValue struct{ Key, Value string }

// frame holds the offsets of the sections.
type frame struct {
	order                            byteOrder
	header, descriptors, events, end int // end of events, where the CRC is
	raw                              int // length of the events after decompression
}

// readFrame performs the checks that come before the CRC, in order. FORMAT.md, section 9.
func readFrame(data []byte) (frame, *Rejection) {
	reject := func(code Code, offset int, message string) (frame, *Rejection) {
		return frame{}, &Rejection{code, offset, message}
	}
	if len(data) < fixedHeaderLength+crcLength {
		return reject(Truncated, len(data), "the message is shorter than a header")
	}
	if string(data[offMagic:offMagic+len(magic)]) != magic {
		return reject(BadMagic, offMagic, "this is no Lifeline batch")
	}
	if data[offVersion] != version {
		return reject(BadVersion, offVersion, "another version than 1")
	}
	if data[offByteOrder] > 1 {
		return reject(BadFlag, offByteOrder, "unknown byte order")
	}
	order := byteOrder{big: data[offByteOrder] == 1}
	length := func(offset int) int64 { return int64(order.u32(data[offset:])) }

	total := length(offTotalLength)
	if int64(len(data)) < total {
		return reject(Truncated, len(data), "the message is shorter than total_length")
	}
	if total > MaxBatchLength {
		return reject(TooLarge, offTotalLength, "a batch above 960,000 bytes")
	}
	if length(offEventsRawLength) > MaxRawEventsLength {
		return reject(TooLarge, offEventsRawLength, "an events section above 1,048,576 bytes")
	}
	if int64(len(data)) > total {
		return reject(BadLength, int(total), "the message is longer than total_length")
	}
	header, descriptors, events := length(offHeaderLength), length(offDescriptorsLength), length(offEventsLength)
	if header+descriptors+events+crcLength != total {
		return reject(BadLength, offHeaderLength, "the sections' lengths do not add up to total_length")
	}
	f := frame{order: order, header: int(header), descriptors: int(header), raw: int(length(offEventsRawLength))}
	f.events = f.descriptors + int(descriptors)
	f.end = f.events + int(events)
	return f, nil
}

// readHeader reads everything between the start and the descriptors.
func (r *Reader) readHeader(found *findings) {
	data, order, h := r.data, r.frame.order, &r.header
	flags := Flags(order.u32(data[offFlags:]))
	*h = Header{
		BigEndian:    order.big,
		Compression:  Compression(data[offCompression]),
		Shuffle:      data[offShuffle],
		Flags:        flags &^ ignoredFlags,
		Incarnation:  [16]byte(data[offIncarnation:]),
		Sequence:     order.u64(data[offSequence:]),
		BaseTick:     order.u64(data[offBaseTick:]),
		TickHz:       order.u64(data[offTickHz:]),
		Clock:        Clock(data[offClock]),
		PID:          order.u32(data[offPID:]),
		Route:        order.u16(data[offRoute:]),
		EventCount:   order.u32(data[offEventCount:]),
		Counters:     h.Counters[:0],
		Calibrations: h.Calibrations[:0],
		Segments:     h.Segments[:0],
		Context:      h.Context[:0],
		Host:         h.Host,
		Program:      h.Program,
		RouteName:    h.RouteName,
	}
	r.checkFixedHeader(flags, found)

	counters := int(order.u16(data[offCounterCount:]))
	calibrations := int(order.u16(data[offCalibrationCount:]))
	segments := int(order.u16(data[offSegmentCount:]))
	arrays := 8*counters + calibrationLength*calibrations + segmentLength*segments
	if flags&Derived != 0 {
		arrays += parentLength
	}
	if fixedHeaderLength+arrays > r.frame.header {
		found.add(BadLength, offCounterCount, "counters, calibrations, segments and parent do not fit the header")
		return
	}
	c := cursor{data: data, order: order, at: fixedHeaderLength, end: r.frame.header}
	r.readCounters(&c, counters, found)
	r.readCalibrations(&c, calibrations, found)
	r.readSegments(&c, segments, found)
	if flags&Derived != 0 {
		r.readParent(&c, found)
	}
	h.Host = headerText(&c, h.Host, MaxTextLength, "host", found)
	h.Program = headerText(&c, h.Program, MaxTextLength, "program", found)
	h.RouteName = headerText(&c, h.RouteName, MaxTextLength, "route_name", found)
	for range order.u16(data[offContextCount:]) {
		at := c.at
		pair := KeyValue{Key: headerText(&c, "", MaxNameLength, "a context key", found)}
		if pair.Key == "" && !c.broken {
			found.add(BadText, at, "a context key is empty")
		}
		pair.Value = headerText(&c, "", MaxTextLength, "a context value", found)
		if c.broken {
			return
		}
		h.Context = append(h.Context, pair)
	}
}

func (r *Reader) checkFixedHeader(flags Flags, found *findings) {
	h, f := &r.header, &r.frame
	if flags&reservedFlags != 0 {
		found.add(BadFlag, offFlags, "a reserved flag is set")
	}
	if h.Compression > Zstd {
		found.add(BadFlag, offCompression, "unknown compression %d", h.Compression)
	}
	if h.Shuffle != 0 && (!isStride(h.Shuffle&^TickDifferences) || h.Compression == None) {
		found.add(BadFlag, offShuffle, "shuffle must be a multiple of 8 up to 128, or one more, and 0 without compression")
	}
	if h.Clock > Monotonic {
		found.add(BadFlag, offClock, "unknown clock %d", h.Clock)
	}
	for offset := offReserved; offset < fixedHeaderLength; offset++ {
		if r.data[offset] != 0 {
			found.add(BadFlag, offset, "a reserved byte is not zero")
		}
	}
	if f.header%8 != 0 || f.header < fixedHeaderLength {
		found.add(BadLength, offHeaderLength, "header_length must be a multiple of 8 from 96 on")
	}
	if (f.events-f.descriptors)%8 != 0 {
		found.add(BadLength, offDescriptorsLength, "descriptors_length is not a multiple of 8")
	}
	if f.raw%8 != 0 || h.Compression == None && f.raw != f.end-f.events {
		found.add(BadLength, offEventsRawLength, "events_raw_length must be a multiple of 8; events_length, uncompressed")
	}
	if h.Sequence == 0 {
		found.add(BadLength, offSequence, "sequences begin with 1")
	}
}

func isStride(stride uint8) bool { return stride > 0 && stride <= maxStride && stride%8 == 0 }

func (r *Reader) readCounters(c *cursor, count int, found *findings) {
	if count < int(KnownCounters) {
		found.add(BadLength, offCounterCount, "fewer than %d counters", KnownCounters)
	}
	counters := c.take(8 * count)
	for ; len(counters) > 0; counters = counters[8:] {
		r.header.Counters = append(r.header.Counters, c.order.u64(counters))
	}
}

func (r *Reader) readCalibrations(c *cursor, count int, found *findings) {
	start := c.at
	entries := c.take(calibrationLength * count)
	if count == 0 {
		found.add(BadCalibration, offCalibrationCount, "there is no calibration")
		return
	}
	for i := range count {
		entry := entries[i*calibrationLength:]
		flags := c.order.u32(entry[28:])
		if flags > 1 {
			found.add(BadFlag, start+i*calibrationLength+28, "a reserved bit of a calibration is set")
		}
		r.header.Calibrations = append(r.header.Calibrations, Calibration{
			Tick:             c.order.u64(entry),
			MonotonicNs:      c.order.u64(entry[8:]),
			RealtimeOffsetNs: int64(c.order.u64(entry[16:])),
			ErrorNs:          c.order.u32(entry[24:]),
			Step:             flags&1 != 0,
		})
	}
	if index, fault := r.time.calibrate(r.header.Calibrations, r.header.TickHz); index < 0 {
		found.add(BadCalibration, offTickHz, "%s", fault)
	} else if fault != "" {
		found.add(BadCalibration, start+index*calibrationLength, "%s", fault)
	}
}

func (r *Reader) readSegments(c *cursor, count int, found *findings) {
	start := c.at
	entries := c.take(segmentLength * count)
	var bytes, events uint64
	for i := range count {
		entry := entries[i*segmentLength:]
		segment := Segment{c.order.u64(entry), c.order.u32(entry[8:]), c.order.u32(entry[12:])}
		if segment.Bytes%8 != 0 {
			found.add(BadLength, start+i*segmentLength+8, "a segment's bytes are not a multiple of 8")
		}
		bytes += uint64(segment.Bytes)
		events += uint64(segment.Events)
		r.header.Segments = append(r.header.Segments, segment)
	}
	if bytes != uint64(r.frame.raw) {
		found.add(BadCount, offEventsRawLength, "the segments do not add up to events_raw_length")
	}
	if events != uint64(r.header.EventCount) {
		found.add(BadCount, offEventCount, "the segments do not add up to event_count")
	}
}

func (r *Reader) readParent(c *cursor, found *findings) {
	start := c.at
	parent := c.take(parentLength)
	if c.order.u16(parent[26:]) != 0 || c.order.u32(parent[36:]) != 0 {
		found.add(BadFlag, start+26, "a reserved field of the parent is not zero")
	}
	r.header.Parent = &Parent{
		Incarnation: [16]byte(parent),
		Sequence:    c.order.u64(parent[16:]),
		Route:       c.order.u16(parent[24:]),
		EventsIn:    c.order.u32(parent[28:]),
		EventsOut:   c.order.u32(parent[32:]),
	}
}

// headerText returns the next text; `before` saves a copy if the text repeats from batch to batch.
func headerText(c *cursor, before string, limit int, what string, found *findings) string {
	if c.broken {
		return ""
	}
	at := c.at
	text := c.str16()
	if c.broken {
		found.add(BadLength, at, "%s runs over the header's end", what)
		return ""
	}
	if len(text) > limit || !utf8.Valid(text) {
		found.add(BadText, at, "%s must be at most %d bytes of UTF-8", what, limit)
	}
	if string(text) == before {
		return before
	}
	return string(text)
}
