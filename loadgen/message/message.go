// Package message makes what generators publish and reads what subscribers get: the study's monitoring data as plain bytes, or
// the same as events in Lifeline batches. All name the generator, its message and the time for which it
// was meant.
package message

import (
	"errors"
	"math/rand/v2"
)

// Identity tells messages apart.
type Identity struct {
	Run       uint32 // drawn for each run, so that messages of another one are seen to be foreign
	Generator uint32
	Sequence  uint32 // from 0, by one for each message of a generator
	Intended  int64  // CLOCK_MONOTONIC nanoseconds at which it should be sent
}

// Builder makes messages into a buffer that it keeps. One goroutine uses it at a time.
type Builder interface {
	// Build returns a message that is valid until the next call.
	Build(identity Identity) ([]byte, error)
}

// Parser reads messages. One goroutine uses it at a time.
type Parser interface {
	// Parse checks the whole message and returns what it says of itself, or ErrForeign.
	Parse(message []byte) (Identity, error)
}

// ErrForeign is the error of bytes that no Builder of this kind made.
var ErrForeign = errors.New("not a message of a fleet")

// Reading is the study's monitoring data apart from what identifies a message: two integers and two longs of the study's
// fields carry the identity; the rest is what a power generator would tell, drawn anew from a seed.
type reading struct {
	floats  [5]float32
	doubles [3]float64
	strings [4]string
}

const stringLength = 14 // with two bytes of length each, the study's fields make 132 bytes

func newReading(random *rand.Rand) reading {
	var r reading
	for i := range r.floats {
		r.floats[i] = random.Float32() * 500
	}
	for i := range r.doubles {
		r.doubles[i] = random.Float64() * 1e6
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for i := range r.strings {
		text := make([]byte, stringLength)
		for j := range text {
			text[j] = letters[random.IntN(len(letters))]
		}
		r.strings[i] = string(text)
	}
	return r
}
