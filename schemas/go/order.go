package llb

import "encoding/binary"

// byteOrder is the emitter's byte order; the zero value is little-endian.
type byteOrder struct{ big bool }

// lowest16 returns where the lowest 16 bits of a u64 are.
func (o byteOrder) lowest16() int {
	if o.big {
		return 6
	}
	return 0
}

func (o byteOrder) u16(b []byte) uint16 {
	if o.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (o byteOrder) u32(b []byte) uint32 {
	if o.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o byteOrder) u64(b []byte) uint64 {
	if o.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

func (o byteOrder) appendU16(to []byte, value uint16) []byte {
	if o.big {
		return binary.BigEndian.AppendUint16(to, value)
	}
	return binary.LittleEndian.AppendUint16(to, value)
}

func (o byteOrder) appendU32(to []byte, value uint32) []byte {
	if o.big {
		return binary.BigEndian.AppendUint32(to, value)
	}
	return binary.LittleEndian.AppendUint32(to, value)
}

func (o byteOrder) appendU64(to []byte, value uint64) []byte {
	if o.big {
		return binary.BigEndian.AppendUint64(to, value)
	}
	return binary.LittleEndian.AppendUint64(to, value)
}

func (o byteOrder) putU32(b []byte, value uint32) {
	if o.big {
		binary.BigEndian.PutUint32(b, value)
	} else {
		binary.LittleEndian.PutUint32(b, value)
	}
}

func (o byteOrder) putU64(b []byte, value uint64) {
	if o.big {
		binary.BigEndian.PutUint64(b, value)
	} else {
		binary.LittleEndian.PutUint64(b, value)
	}
}

func appendStr16[T string | []byte](to []byte, order byteOrder, text T) []byte {
	to = order.appendU16(to, uint16(len(text)))
	return append(to, text...)
}

// padded rounds up to a multiple of 8.
func padded(length int) int { return (length + 7) &^ 7 }

func appendPadding(to []byte) []byte {
	for len(to)%8 != 0 {
		to = append(to, 0)
	}
	return to
}
