package llb_test

import (
	"testing"

	llb "lifeline/schemas/go"
	"lifeline/schemas/go/internal/sample"
)

func BenchmarkDecode(b *testing.B) {
	cases := []struct {
		name    string
		batch   func() ([]byte, error)
		consume func(*sample.Sums, *llb.Reader)
	}{
		{"Table1", func() ([]byte, error) { return sample.Table1(llb.Header{}) }, (*sample.Sums).ConsumeTable1},
		{"Mixed", sample.Mixed, (*sample.Sums).ConsumeMixed},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			batch, err := c.batch()
			if err != nil {
				b.Fatal(err)
			}
			var reader llb.Reader
			var sums sample.Sums
			b.SetBytes(int64(len(batch)))
			for b.Loop() {
				if err := reader.Read(batch); err != nil {
					b.Fatal(err)
				}
				c.consume(&sums, &reader)
			}
			if want := uint64(b.N) * uint64(reader.Header().EventCount); sums.Events != want {
				b.Fatalf("%d events were consumed, and %d were in the batches", sums.Events, want)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sums.Events), "ns/event")
		})
	}
}
