package generator

import (
	"math/bits"
	"unsafe"

	"lifeline/loadgen/measure"
	"lifeline/loadgen/scenario"
)

// A message that has not arrived after the histograms' end counts as lost, even if it arrives later: the study's loss needs
// an end too, and what is remembered of each message needs a bound.
const arrivalTimeout = measure.Highest

// MostSubscribers is how many a flight can tell apart.
const MostSubscribers = 64

// flight is what is remembered of one message from its sending until it is settled.
type flight struct {
	sequence uint32
	state    flightState
	copies   uint64 // bit for each subscriber that has it; MostSubscribers have one
	before   int64  // CLOCK_MONOTONIC at sending; 0 in an unused slot
	after    int64  // when the publishing call returned; 0 until then
	received int64  // before receiving, of the first copy; 0 until then
}

type flightState uint8

const (
	failed       flightState = 1 << iota // publishing returned an error: it was never sent
	acknowledged                         // the broker took responsibility
	wanted                               // the subscribers' selector selects it
)

// flights remembers the messages of one generator that may still arrive: as many as it can send within arrivalTimeout. It is a ring by
// sequence number, so a message takes the slot of one that is out of arrivalTimeout.
type flights []flight

// flightsFor is the ring's size, a power of two.
func flightsFor(interval int64) int {
	size := 2
	for int64(size) < arrivalTimeout/max(interval, 1)+2 {
		size *= 2
	}
	return size
}

func (f flights) slot(sequence uint32) *flight { return &f[sequence&uint32(len(f)-1)] }

// at returns the message's flight, nil when it was settled long ago or never sent.
func (f flights) at(sequence uint32) *flight {
	if slot := f.slot(sequence); slot.before != 0 && slot.sequence == sequence {
		return slot
	}
	return nil
}

// missing is how many subscribers have not received it.
func (f *flight) missing(subscribers int) int {
	if f.before == 0 || f.state&failed != 0 || f.state&wanted == 0 {
		return 0
	}
	return subscribers - bits.OnesCount64(f.copies)
}

// Memory is what a worker remembers for one generator of the scenario, in bytes.
func Memory(s scenario.Scenario) int {
	return flightsFor(int64(s.Interval.Duration))*int(unsafe.Sizeof(flight{})) + int(unsafe.Sizeof(generator{}))
}
