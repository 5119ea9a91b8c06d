package message

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// The layout, little-endian:
//
//	offset  0  i32      generator            the study's two integers
//	        4  i32      sequence
//	        8  i64      intended             its two longs
//	       16  i64      run << 32 | length
//	       24  5 f32    its five floats
//	       44  3 f64    its three doubles
//	       68  4 times  u16 length, text     its four strings
//	      132  as many copies of bytes 24 to 131 as the multiple asks for
const (
	offsetGenerator = 0
	offsetSequence  = 4
	offsetIntended  = 8
	offsetRun       = 16
	offsetReading   = 24
	readingLength   = 5*4 + 3*8 + 4*(2+stringLength)
)

// RawLength is the size of a raw message of so many times the study's fields.
func RawLength(multiple int) int { return offsetReading + multiple*readingLength }

type raw struct{ message []byte }

// NewRaw makes raw messages of so many times the study's fields.
func NewRaw(multiple int, seed uint64) Builder {
	random := rand.New(rand.NewPCG(seed, 0))
	message := make([]byte, offsetReading, RawLength(multiple))
	for range multiple {
		r := newReading(random)
		for _, value := range r.floats {
			message = binary.LittleEndian.AppendUint32(message, math.Float32bits(value))
		}
		for _, value := range r.doubles {
			message = binary.LittleEndian.AppendUint64(message, math.Float64bits(value))
		}
		for _, text := range r.strings {
			message = binary.LittleEndian.AppendUint16(message, uint16(len(text)))
			message = append(message, text...)
		}
	}
	return &raw{message}
}

func (r *raw) Build(identity Identity) ([]byte, error) {
	binary.LittleEndian.PutUint32(r.message[offsetGenerator:], identity.Generator)
	binary.LittleEndian.PutUint32(r.message[offsetSequence:], identity.Sequence)
	binary.LittleEndian.PutUint64(r.message[offsetIntended:], uint64(identity.Intended))
	binary.LittleEndian.PutUint64(r.message[offsetRun:], uint64(identity.Run)<<32|uint64(len(r.message)))
	return r.message, nil
}

// RawParser reads raw messages.
type RawParser struct{}

// Parse checks the length and the identity; the reading may hold any bits.
func (RawParser) Parse(message []byte) (Identity, error) {
	if len(message) < offsetReading {
		return Identity{}, ErrForeign
	}
	run := binary.LittleEndian.Uint64(message[offsetRun:])
	if uint64(len(message)) != run&math.MaxUint32 {
		return Identity{}, ErrForeign
	}
	return Identity{
		Run:       uint32(run >> 32),
		Generator: binary.LittleEndian.Uint32(message[offsetGenerator:]),
		Sequence:  binary.LittleEndian.Uint32(message[offsetSequence:]),
		Intended:  int64(binary.LittleEndian.Uint64(message[offsetIntended:])),
	}, nil
}
