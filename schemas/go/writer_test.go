package llb_test

import (
	"strings"
	"testing"

	llb "lifeline/schemas/go"
)

func header() llb.Header {
	return llb.Header{
		Sequence:     1,
		TickHz:       1_000_000_000,
		Counters:     make([]uint64, llb.KnownCounters),
		Calibrations: []llb.Calibration{{Tick: 1}},
	}
}

func number() *llb.EventType {
	return &llb.EventType{Level: llb.Info, Name: "number", Fields: []llb.Field{{Type: llb.U32, Name: "n"}}}
}

func TestAWriterRefusesWhatIsNoBatchAndSaysWhy(t *testing.T) {
	for want, write := range map[string]func(*llb.Writer){
		"an event needs a segment": func(w *llb.Writer) { w.BeginEvent(1, 0) },
		"type number 2 has not been added": func(w *llb.Writer) {
			w.BeginSegment(1)
			w.BeginEvent(2, 0)
		},
		"an event of type number has 1 fields, and 0 were written": func(w *llb.Writer) {
			w.BeginSegment(1)
			w.BeginEvent(1, 0)
		},
		"a value of type i32 does not fit the event's next field": func(w *llb.Writer) {
			w.BeginSegment(1)
			w.BeginEvent(1, 0)
			w.Int32(1)
		},
		"two types have the number 1": func(w *llb.Writer) { w.AddType(1, number()) },
	} {
		w := llb.NewWriter(header())
		w.AddType(1, number())
		write(w)
		if _, err := w.Bytes(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAWriterRefusesAHeaderThatReadersReject(t *testing.T) {
	h := header()
	h.Sequence = 0
	if _, err := llb.NewWriter(h).Bytes(); err == nil || !strings.Contains(err.Error(), "sequences begin with 1") {
		t.Fatalf("got %v", err)
	}
}
