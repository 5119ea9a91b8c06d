package measure

import (
	"math/big"
	"math/bits"
)

// wide is a signed integer of 128 bits: sums of squared nanoseconds pass 64 bits within milliseconds, and in floating point
// they would depend on the order in which workers are merged.
type wide struct {
	High int64
	Low  uint64
}

func (w *wide) addWide(other wide) {
	low, carry := bits.Add64(w.Low, other.Low, 0)
	w.Low = low
	w.High += other.High + int64(carry)
}

func (w *wide) add(value int64) {
	w.addWide(wide{High: value >> 63, Low: uint64(value)})
}

func (w *wide) addSquare(magnitude uint64) {
	high, low := bits.Mul64(magnitude, magnitude)
	w.addWide(wide{High: int64(high), Low: low})
}

func (w wide) int() *big.Int {
	value := new(big.Int).Lsh(big.NewInt(w.High), 64)
	return value.Add(value, new(big.Int).SetUint64(w.Low))
}
