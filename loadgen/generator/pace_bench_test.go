package generator

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
)

// idle is a client whose calls return at once, and nothing arrives.
type idle struct{ planned }

func (*idle) Connect(context.Context, int) (transport.Connection, error) { return &idle{}, nil }
func (*idle) Publish(string, []byte, transport.Acknowledged) error       { return nil }

// BenchmarkPacing reports what a message costs and how late it is, at 19,800 generators' rate and at ten times that.
func BenchmarkPacing(b *testing.B) {
	for _, rate := range []int{1_980, 19_800} {
		b.Run(fmt.Sprintf("%d a second", rate), func(b *testing.B) {
			share := Share{Generators: rate, Channels: []string{"w0-n0"}, Scenario: scenario.Scenario{
				Interval: scenario.Seconds(1), InitialSleep: scenario.Range{To: scenario.Seconds(1)},
				Message: scenario.Message{Kind: "raw", Multiple: 1}, Subscribers: scenario.Subscribers{Count: 1, Selector: "id < 0"},
			}}
			fleet, err := New(share, &idle{}, transport.Traits{})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			if err := fleet.Start(ctx); err != nil {
				b.Fatal(err)
			}
			fleet.Measure(0, math.MaxInt64, 0)
			if err := fleet.Connect(ctx); err != nil {
				b.Fatal(err)
			}
			before := used(b)
			for b.Loop() {
				time.Sleep(time.Second)
			}
			cpu := used(b) - before
			fleet.Measure(0, clock.Now(), 0)
			fleet.Drain(ctx)
			if err := fleet.Close(ctx); err != nil {
				b.Fatal(err)
			}
			late := &fleet.stats.times.Lateness
			b.ReportMetric(float64(cpu)/float64(b.N*rate), "cpu-ns/msg")
			b.ReportMetric(float64(late.Percentile(50)), "p50-late-ns")
			b.ReportMetric(float64(late.Percentile(99.8)), "p99.8-late-ns")
		})
	}
}

// used is the process' CPU time in nanoseconds.
func used(b *testing.B) int64 {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used); err != nil {
		b.Fatal(err)
	}
	return used.Nano()
}
