// Package table1 makes batches of the event of NetLogger's Table 1, a timestamp with an i32 and an f32, and consumes
// them: what every decode rate is measured with.
package table1

import (
	"fmt"

	llb "lifeline/schemas/go"
)

// EventsIn64KiB fills a default batch.
const EventsIn64KiB = 4073

const (
	typeNumber   = 1
	firstTick    = 5_000_000
	ticksBetween = 35
	epoch2003    = 1_049_155_200_000_000_000
)

// Batch returns a batch of that many events.
func Batch(events int) []byte {
	counters := make([]uint64, llb.KnownCounters)
	counters[llb.Emitted] = uint64(events)
	w := llb.NewWriter(llb.Header{
		Incarnation: [16]byte{1, 2, 3},
		Sequence:    1,
		BaseTick:    firstTick,
		TickHz:      2_700_000_000,
		Host:        "foo.lbl.gov",
		Program:     "my_program",
		RouteName:   "default",
		Counters:    counters,
		Calibrations: []llb.Calibration{
			{Tick: 1_000_000, MonotonicNs: 500_000_000, RealtimeOffsetNs: epoch2003},
			{Tick: 2_701_000_000, MonotonicNs: 1_500_000_000, RealtimeOffsetNs: epoch2003},
		},
	})
	w.AddType(typeNumber, &llb.EventType{
		Level:  llb.Info,
		Name:   "MY_EVENT",
		Fields: []llb.Field{{Type: llb.I32, Name: "i"}, {Type: llb.F32, Name: "f"}},
	})
	w.BeginSegment(4242)
	for n := range events {
		w.BeginEvent(typeNumber, firstTick+ticksBetween*uint64(n))
		w.Int32(int32(n))
		w.Float32(float32(n) / 8)
	}
	batch, err := w.Bytes()
	if err != nil {
		panic(fmt.Sprintf("table1: %d events: %v", events, err))
	}
	return batch
}

// Sums is what is left of consumed events, so that no field and no time can be optimised away.
type Sums struct {
	Events uint64
	TimeNs int64
	I      int64
	F      float64
}

// Consume adds up every field and the converted time of all events.
func (s *Sums) Consume(r *llb.Reader) {
	for r.Next() {
		s.Events++
		s.TimeNs += r.TimeNs()
		s.I += int64(r.Int32(0))
		s.F += float64(r.Float32(1))
	}
}
