// Package sample creates the batches used to measure decode rates, and consumes them.
package sample

import (
	"fmt"
	"math/rand/v2"

	llb "lifeline/schemas/go"
)

const (
	table1Number = 1
	mixedNumber  = 2
	firstTick    = 5_000_000
	ticksBetween = 40
	epoch2003    = 1_049_155_200_000_000_000

	// Number of events in a default batch of 64 KiB.
	table1Events = 4073
	mixedPairs   = 1010
)

// NetLogger's Table 1: a timestamp with an i32 and an f32.
var table1 = &llb.EventType{
	Level:  llb.Info,
	Name:   "MY_EVENT",
	Fields: []llb.Field{{Type: llb.I32, Name: "i"}, {Type: llb.F32, Name: "f"}},
}

var mixed = &llb.EventType{
	Level: llb.Info,
	Name:  "file.read",
	Fields: []llb.Field{
		{Type: llb.String, Name: "name"},
		{Type: llb.U64, Name: "offset", Unit: "B"},
		{Type: llb.F64, Name: "duration", Unit: "s"},
	},
}

func writer(storage llb.Header) *llb.Writer {
	storage.Incarnation = [16]byte{1, 2, 3}
	storage.Sequence = 1
	storage.BaseTick = firstTick
	storage.TickHz = 2_700_000_000
	storage.Host, storage.Program, storage.RouteName = "foo.lbl.gov", "my_program", "default"
	storage.Counters = make([]uint64, llb.KnownCounters)
	storage.Calibrations = []llb.Calibration{
		{Tick: 1_000_000, MonotonicNs: 500_000_000, RealtimeOffsetNs: epoch2003},
		{Tick: 2_701_000_000, MonotonicNs: 1_500_000_000, RealtimeOffsetNs: epoch2003},
	}
	w := llb.NewWriter(storage)
	w.AddType(table1Number, table1)
	w.BeginSegment(4242)
	return w
}

func writeTable1(w *llb.Writer, tick uint64, random *rand.Rand) {
	w.BeginEvent(table1Number, tick)
	w.Int32(random.Int32())
	w.Float32(random.Float32())
}

// Table1 returns a 64 KiB batch of Table 1 events, stored as the header says: byte order, compression and shuffle.
func Table1(storage llb.Header) ([]byte, error) {
	random := rand.New(rand.NewPCG(1, 1))
	w := writer(storage)
	for n := range uint64(table1Events) {
		writeTable1(w, firstTick+ticksBetween*n, random)
	}
	return w.Bytes()
}

// Mixed returns a 64 KiB batch in which every second event has a string of 16 bytes.
func Mixed() ([]byte, error) {
	random := rand.New(rand.NewPCG(2, 2))
	w := writer(llb.Header{})
	w.AddType(mixedNumber, mixed)
	for n := range uint64(mixedPairs) {
		tick := firstTick + 2*ticksBetween*n
		writeTable1(w, tick, random)
		w.BeginEvent(mixedNumber, tick+ticksBetween)
		w.String(fmt.Sprintf("file-%011d", random.Uint32()))
		w.Uint64(random.Uint64())
		w.Float64(random.Float64())
	}
	return w.Bytes()
}

// Sums accumulates consumed events, so that no field and no time can be optimised away.
type Sums struct {
	Events   uint64
	TimeNs   int64
	Integers uint64
	Floats   float64
}

// ConsumeTable1 adds up every field and the converted time of a batch of Table 1 events.
func (s *Sums) ConsumeTable1(r *llb.Reader) {
	for r.Next() {
		s.Events++
		s.TimeNs += r.TimeNs()
		s.Integers += uint64(r.Int32(0))
		s.Floats += float64(r.Float32(1))
	}
}

// ConsumeMixed does the same for a batch of both types.
func (s *Sums) ConsumeMixed(r *llb.Reader) {
	for r.Next() {
		s.Events++
		s.TimeNs += r.TimeNs()
		if r.Number() == table1Number {
			s.Integers += uint64(r.Int32(0))
			s.Floats += float64(r.Float32(1))
			continue
		}
		for _, b := range r.RawString(0) {
			s.Integers += uint64(b)
		}
		s.Integers += r.Uint64(1)
		s.Floats += r.Float64(2)
	}
}
