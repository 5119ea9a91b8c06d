package live

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lifeline/loadgen/format"
)

const linesEvery = 5 * time.Second

// lines is for logs: a line when the phase changes, and one every five seconds of the run.
type lines struct {
	to    io.Writer
	phase string
	next  time.Duration
}

func (l *lines) Show(s Status) {
	if s.Phase == l.phase && s.Elapsed < l.next {
		return
	}
	l.phase, l.next = s.Phase, s.Elapsed+linesEvery
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: connections %s/%s", format.Clock(s.Elapsed), s.Phase, format.Count(s.Connections), format.Count(s.Generators))
	if s.Sent > 0 {
		fmt.Fprintf(&text, ", sent %s (%s/s), received %s (%s/s), lost %s", format.Count(s.Sent), format.Number(s.SendRate),
			format.Count(s.Received), format.Number(s.ReceiveRate), format.Count(s.Lost))
		for _, extra := range extras(s) {
			fmt.Fprintf(&text, ", %s", extra)
		}
	}
	if s.Max != 0 {
		fmt.Fprintf(&text, ", RTT ms p50 %s p99 %s p99.8 %s", format.Millis(float64(s.P50)), format.Millis(float64(s.P99)), format.Millis(float64(s.P998)))
	}
	if s.watched() {
		fmt.Fprintf(&text, ", machine %s idle", format.Percent(round(s.Idle)))
	}
	if s.Left >= 0 {
		fmt.Fprintf(&text, ", %s left", format.Clock(s.Left))
	}
	fmt.Fprintln(l.to, text.String())
}

func (l *lines) End() {}

// extras are counts that are worth a word only where they are not zero.
func extras(s Status) []string {
	var said []string
	for _, count := range []struct {
		value uint64
		word  string
	}{{s.Duplicated, "duplicated"}, {s.Reordered, "reordered"}, {s.Failed, "failed"}} {
		if count.value > 0 {
			said = append(said, count.word+" "+format.Count(count.value))
		}
	}
	return said
}

// round drops what a share of one second's CPU ticks does not tell.
func round(share float64) float64 { return float64(int(share*100+0.5)) / 100 }
