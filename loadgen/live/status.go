// Package live shows a run while it goes on: in place on a terminal, as a line every five seconds elsewhere.
package live

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Status is a run at one moment. Counts are totals, rates and percentiles those of the last second.
type Status struct {
	Scenario string
	Phase    string // "starting the broker", "connecting", "warming up", "measuring", "draining"
	Elapsed  time.Duration
	Left     time.Duration // negative: not known

	Connections, Generators             int
	Sent, Received                      uint64
	Lost, Duplicated, Reordered, Failed uint64
	SendRate, ReceiveRate               float64 // messages per second
	P50, P99, P998, Max                 int64   // RTT in ns; all 0 where nothing arrived
	Idle                                float64 // share of the machine
	BrokerCPU, ClientCPU                float64 // cores
	BrokerBytes, ClientBytes            int64   // resident
}

// watched reports whether the machine has been sampled yet.
func (s Status) watched() bool { return s.Idle > 0 || s.ClientCPU > 0 || s.BrokerCPU > 0 }

// View shows the newest status. One goroutine at a time calls its methods, Show about once a second; End leaves the last
// status standing.
type View interface {
	Show(Status)
	End()
}

// New chooses the view for a file: in place where it is a terminal that can move its cursor, lines otherwise.
func New(to *os.File) View {
	if columns := width(to); columns > 0 && os.Getenv("TERM") != "dumb" {
		return &panel{to: to, columns: func() int { return width(to) }}
	}
	return &lines{to: to}
}

// width is 0 where the file is no terminal.
func width(file *os.File) int {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
