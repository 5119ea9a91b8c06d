package llb

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressor undoes compression and shuffle in reusable buffers.
type decompressor struct {
	zstd               *zstd.Decoder
	unpacked, unfolded []byte
}

// expand returns the raw events, or false if stored does not decompress to exactly length bytes.
func (d *decompressor) expand(h *Header, stored []byte, length int) ([]byte, bool) {
	d.unpacked = sized(d.unpacked, length)
	ok, stride := false, int(h.Shuffle&^TickDifferences)
	switch h.Compression {
	case LZ4:
		if lz4WellFormed(stored, length) {
			n, err := lz4.UncompressBlock(stored, d.unpacked)
			ok = err == nil && n == length
		}
	case Zstd:
		ok = d.expandZstd(stored)
	}
	if !ok {
		return nil, false
	}
	if stride == 0 || length < stride {
		return d.unpacked, true
	}
	d.unfolded = sized(d.unfolded, length)
	unshuffle(d.unfolded, d.unpacked, stride)
	if h.Shuffle&TickDifferences != 0 {
		differencesToTicks(d.unfolded, stride, byteOrder{big: h.BigEndian})
	}
	return d.unfolded, true
}

func (d *decompressor) expandZstd(frame []byte) bool {
	if d.zstd == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(1<<32))
		if err != nil {
			panic("llb: zstd refuses constant options: " + err.Error())
		}
		d.zstd = decoder
	}
	if zstdFrameLength(frame) != len(frame) {
		return false
	}
	unpacked, err := d.zstd.DecodeAll(frame, d.unpacked[:0:len(d.unpacked)])
	return err == nil && len(unpacked) == len(d.unpacked)
}

// lz4WellFormed checks the sequences of a block (lz4_Block_format.md). Decoders omit parts of this: some copy from a
// distance of 0, which discloses earlier content of their buffer.
func lz4WellFormed(block []byte, length int) bool {
	const minMatch, lastLiterals, lastMatchBefore = 4, 5, 12
	at, out := 0, 0
	run := func(nibble byte) int {
		sum := int(nibble)
		for more := nibble == 15; more && at < len(block); at++ {
			sum += int(block[at])
			more = block[at] == 255
		}
		return sum
	}
	for at < len(block) {
		token := block[at]
		at++
		literals := run(token >> 4)
		at += literals
		out += literals
		if at >= len(block) {
			return at == len(block) && out == length && token&15 == 0
		}
		if at+2 > len(block) || length-out < lastMatchBefore {
			return false
		}
		distance := int(binary.LittleEndian.Uint16(block[at:]))
		if distance < 1 || distance > out {
			return false
		}
		at += 2
		out += minMatch + run(token&15)
		if length-out < lastLiterals {
			return false
		}
	}
	return false
}

// zstdFrameLength walks the blocks of the frame that b begins with (RFC 8878, section 3.1.1), because decoders accept
// several consecutive frames, but a batch holds exactly one. It returns -1 if there is none.
func zstdFrameLength(b []byte) int {
	if len(b) < 5 || binary.LittleEndian.Uint32(b) != 0xFD2FB528 {
		return -1
	}
	descriptor := b[4]
	singleSegment := descriptor >> 5 & 1
	at := 5 + 1 - int(singleSegment) + []int{0, 1, 2, 4}[descriptor&3] + []int{int(singleSegment), 2, 4, 8}[descriptor>>6]
	for last := false; !last; {
		if at+3 > len(b) {
			return -1
		}
		block := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
		last = block&1 == 1
		if block>>1&3 == 1 { // one byte, repeated
			at += 3 + 1
		} else {
			at += 3 + int(block>>3)
		}
	}
	if descriptor>>2&1 == 1 {
		at += 4 // checksum
	}
	return at
}

// unshuffle turns columns back into rows. FORMAT.md, section 8.
func unshuffle(rows, columns []byte, stride int) {
	count := len(columns) / stride
	for j := 0; j < stride; j++ {
		for i, value := range columns[j*count : (j+1)*count] {
			rows[i*stride+j] = value
		}
	}
	copy(rows[count*stride:], columns[count*stride:])
}

// shuffle turns rows into columns.
func shuffle(columns, rows []byte, stride int) {
	count := len(rows) / stride
	for j := 0; j < stride; j++ {
		column := columns[j*count : (j+1)*count]
		for i := range column {
			column[i] = rows[i*stride+j]
		}
	}
	copy(columns[count*stride:], rows[count*stride:])
}

const typeBits = 0xffff // of a record's first word

// ticksToDifferences subtracts from each row's tick that of the row before. From the last row to the first, so that the
// row before still has its tick.
func ticksToDifferences(rows []byte, stride int, order byteOrder) {
	for at := len(rows)/stride*stride - stride; at >= stride; at -= stride {
		order.putU64(rows[at:], order.u64(rows[at:])-order.u64(rows[at-stride:])&^typeBits)
	}
}

// differencesToTicks undoes it.
func differencesToTicks(rows []byte, stride int, order byteOrder) {
	tick := uint64(0)
	for ; len(rows) >= stride; rows = rows[stride:] {
		word := order.u64(rows)
		tick += word &^ typeBits
		order.putU64(rows, tick|word&typeBits)
	}
}

func sized(buffer []byte, length int) []byte {
	if cap(buffer) < length {
		return make([]byte, length)
	}
	return buffer[:length]
}
