package llb_test

import (
	"testing"

	llb "lifeline/schemas/go"
	"lifeline/schemas/go/internal/table1"
)

func BenchmarkDecodeTable1(b *testing.B) {
	batch := table1.Batch(table1.EventsIn64KiB)
	var reader llb.Reader
	var sums table1.Sums
	b.SetBytes(int64(len(batch)))
	for b.Loop() {
		if err := reader.Read(batch); err != nil {
			b.Fatal(err)
		}
		sums.Consume(&reader)
	}
	if want := uint64(b.N) * table1.EventsIn64KiB; sums.Events != want {
		b.Fatalf("%d events were consumed, and %d were in the batches", sums.Events, want)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sums.Events), "ns/event")
}
