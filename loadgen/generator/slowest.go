package generator

import (
	"cmp"
	"slices"
)

// told is how many of its slowest deliveries a run tells one by one.
const told = 100

// Trip is one delivery: the message, when it was sent (CLOCK_MONOTONIC), and its round trip in nanoseconds.
type Trip struct {
	Generator, Sequence uint32
	Before, RTT         int64
}

// Slowest are the slowest deliveries, the slowest first.
type Slowest []Trip

// add costs one comparison for nearly every message of a run.
func (s *Slowest) add(trip Trip) {
	if len(*s) == told && trip.RTT <= (*s)[told-1].RTT {
		return
	}
	place, _ := slices.BinarySearchFunc(*s, trip, func(a, b Trip) int { return cmp.Compare(b.RTT, a.RTT) })
	*s = slices.Insert(*s, place, trip)
	*s = (*s)[:min(len(*s), told)]
}

// Merge adds another worker's.
func (s *Slowest) Merge(from Slowest) {
	for _, trip := range from {
		s.add(trip)
	}
}
