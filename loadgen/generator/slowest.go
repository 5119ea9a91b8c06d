package generator

import (
	"cmp"
	"slices"
)

// SlowestKept is the number of slowest deliveries that a run reports.
const SlowestKept = 100

// Trip is one delivery: the message, when it was due (CLOCK_MONOTONIC), its round trip from then, and from its sending.
type Trip struct {
	Generator, Sequence    uint32
	Intended, RTT, Service int64
}

// Slowest are the slowest deliveries, the slowest first.
type Slowest []Trip

// add costs one comparison for nearly every message of a run.
func (s *Slowest) add(trip Trip) {
	if len(*s) == SlowestKept && trip.RTT <= (*s)[SlowestKept-1].RTT {
		return
	}
	place, _ := slices.BinarySearchFunc(*s, trip, func(a, b Trip) int { return cmp.Compare(b.RTT, a.RTT) })
	*s = slices.Insert(*s, place, trip)
	*s = (*s)[:min(len(*s), SlowestKept)]
}

// Merge adds another worker's.
func (s *Slowest) Merge(from Slowest) {
	for _, trip := range from {
		s.add(trip)
	}
}
