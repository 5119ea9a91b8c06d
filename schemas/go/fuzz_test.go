package llb

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

func addVectors(f *testing.F, add func([]byte)) {
	f.Helper()
	for _, folder := range []string{"valid", "invalid"} {
		paths, err := filepath.Glob(filepath.Join("..", "vectors", folder, "*.llb"))
		if err != nil || len(paths) == 0 {
			f.Fatalf("no vectors in %s: %v", folder, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) <= 20_000 { // larger ones slow down the fuzzer and reach no other code
				add(data)
			}
		}
	}
}

// repair corrects lengths, hashes and CRC, without which the first checks reject nearly every mutation.
func repair(data []byte) []byte {
	if len(data) < fixedHeaderLength+crcLength || len(data) > MaxBatchLength {
		return data
	}
	data = append([]byte(nil), data...)
	copy(data, magic)
	data[offVersion] = version
	data[offByteOrder] &= 1
	order := byteOrder{big: data[offByteOrder] == 1}
	order.putU32(data[offTotalLength:], uint32(len(data)))
	header := uint64(order.u32(data[offHeaderLength:]))
	descriptors := uint64(order.u32(data[offDescriptorsLength:]))
	if sections := uint64(len(data) - crcLength); header+descriptors <= sections {
		events := uint32(sections - header - descriptors)
		order.putU32(data[offEventsLength:], events)
		if data[offCompression] == byte(None) {
			order.putU32(data[offEventsRawLength:], events)
		}
		repairHashes(data[:header+descriptors], int(header), order)
	}
	order.putU32(data[len(data)-crcLength:], crc32.Checksum(data[:len(data)-crcLength], castagnoli))
	return data
}

func repairHashes(data []byte, at int, order byteOrder) {
	for len(data)-at >= entOffName {
		length := int(order.u32(data[at:]))
		if length < entOffName || length > len(data)-at {
			return
		}
		var identity interner
		identity.read(&cursor{data: data, order: order, at: at, end: at + length}, &findings{})
		copy(data[at+entOffHash:], order.appendU64(nil, fnv1a64(identity.identity)))
		at += length
	}
}

// consume reads everything that an accepted batch offers, and counts the events.
func consume(r *Reader) (events uint32) {
	for r.Next() {
		events++
		r.TimeNs()
		r.Thread()
		for i := range r.Type().Fields {
			switch r.Type().Fields[i].Type {
			case I32:
				r.Int32(i)
			case I64:
				r.Int64(i)
			case F32:
				r.Float32(i)
			case F64:
				r.Float64(i)
			case String:
				r.String(i)
			case U32:
				r.Uint32(i)
			case U64:
				r.Uint64(i)
			case Bool:
				r.Bool(i)
			case Bytes:
				r.Bytes(i)
			}
		}
	}
	return events
}

func FuzzReader(f *testing.F) {
	addVectors(f, func(data []byte) { f.Add(data) })
	var reader Reader // one for all inputs, as in a job: no state may carry over from one batch to the next
	f.Fuzz(func(t *testing.T, data []byte) {
		data = repair(data)
		err := reader.Read(data)
		if fresh := new(Reader).Read(data); (err == nil) != (fresh == nil) || err != nil && err.Error() != fresh.Error() {
			t.Fatalf("a used reader says %v, a fresh one %v", err, fresh)
		}
		if err != nil {
			if rejection := err.(*Rejection); rejection.Offset < 0 || rejection.Message == "" {
				t.Fatalf("an offset below 0 or no sentence: %v", rejection)
			}
			return
		}
		if got, said := consume(&reader), reader.Header().EventCount; got != said {
			t.Fatalf("%d events delivered of %d", got, said)
		}
	})
}

// FuzzRecords starts after decompression: the input is the events section of a batch whose types are valid.
func FuzzRecords(f *testing.F) {
	addVectors(f, func(data []byte) {
		var seed Reader
		if seed.Read(data) == nil {
			f.Add(seed.raw, seed.order.big)
		}
	})
	var readers [2]Reader
	for i, name := range []string{"every-type-little", "every-type-big"} {
		batch, err := os.ReadFile(filepath.Join("..", "vectors", "valid", name+".llb"))
		if err != nil {
			f.Fatal(err)
		}
		if err := readers[i].Read(batch); err != nil {
			f.Fatal(err)
		}
		// Many short types in addition to the one with all fields, so that mutated numbers hit some.
		for code := I32; code <= Bytes; code++ {
			kind := &EventType{Level: Info, Name: code.String(), Fields: []Field{{Type: code, Name: "value"}}}
			kind.prepare()
			readers[i].descriptors = append(readers[i].descriptors, Descriptor{uint16(code) << 8, kind})
			readers[i].numbers[uint16(code)<<8] = uint16(len(readers[i].descriptors))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, big bool) {
		reader := &readers[boolByte(big)]
		raw = raw[:len(raw)&^7]
		if len(raw) > MaxRawEventsLength {
			return
		}
		reader.raw, reader.runs = raw, reader.runs[:0]
		count, rejection := reader.walk(0, 0, len(raw))
		if rejection != nil {
			return
		}
		reader.header.Segments = []Segment{{Bytes: uint32(len(raw)), Events: count}}
		reader.Rewind()
		if got := consume(reader); got != count {
			t.Fatalf("%d events delivered of %d", got, count)
		}
	})
}

// FuzzDecompress passes compressed streams to the decoders, with any announced length.
func FuzzDecompress(f *testing.F) {
	addVectors(f, func(data []byte) {
		if r, rejection := readFrame(data); rejection == nil && data[offCompression] != byte(None) {
			f.Add(data[offByteOrder] == 1, data[offCompression], data[offShuffle], data[r.events:r.end], uint32(r.raw))
		}
	})
	var d decompressor
	f.Fuzz(func(t *testing.T, big bool, compression, shuffle uint8, stored []byte, length uint32) {
		length %= MaxRawEventsLength + 1
		h := Header{BigEndian: big, Compression: Compression(compression % 3), Shuffle: shuffle &^ 6}
		if h.Shuffle == TickDifferences {
			h.Shuffle = 0
		}
		raw, ok := d.expand(&h, stored, int(length))
		if ok && len(raw) != int(length) {
			t.Fatalf("%d bytes where %d were announced", len(raw), length)
		}
	})
}

func TestRepairedVectorsReachBehindTheirFault(t *testing.T) {
	batch, err := os.ReadFile(filepath.Join("..", "vectors", "valid", "table1.llb"))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(batch[offTotalLength:], 7)
	batch[len(batch)-1] ^= 0xff
	if err := new(Reader).Read(repair(batch)); err != nil {
		t.Fatalf("repaired and still rejected: %v", err)
	}
}
