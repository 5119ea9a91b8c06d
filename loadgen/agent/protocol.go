// Package agent lets one coordinator run workers on several machines: a server, `fleet agent`, on each, and its client. Both ends
// show a certificate (TLS 1.3). A run is one HTTP/2 stream for each agent, on which orders and reports travel as gob. When
// either end closes the stream, the run ends, and its workers.
package agent

import (
	"errors"
	"net/http"
	"time"

	"lifeline/loadgen/crew"
	"lifeline/loadgen/host"
	"lifeline/loadgen/preflight"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// Paths of an agent: one run, and the present reading of its CLOCK_MONOTONIC, in digits.
const (
	runPath   = "POST /run"
	clockPath = "GET /clock"
)

// A peer that answers nothing for quiet is asked for a sign of life, and given up when none comes within patience.
const (
	quiet    = 2 * time.Second
	patience = 15 * time.Second // a busy machine may take several
)

// http2 finds dead peers on both ends.
func http2() *http.HTTP2Config {
	return &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: patience, WriteByteTimeout: quiet + patience}
}

// order is the coordinator's next: exactly one field is set. Hire comes first.
type order struct {
	Hire   int // so many workers
	Worker *forWorker
	Gauge  gauging
	Stop   *stop // the gauges
}

type forWorker struct {
	Number int
	Order  worker.Order
}

type stop struct{ Connections int }

// gauging is what the gauges are to do next.
type gauging string

const (
	base    gauging = "base"
	measure gauging = "measure"
	rest    gauging = "rest"
)

// report is an agent's message: hello at once, gauges after stop.
type report struct {
	Hello   *hello
	Said    *said
	Samples []host.Sample // the newest
	Stalls  *worker.Stalls
	Gauges  *gauges
	Failure string // of the agent: the run cannot go on
}

// hello is what an agent's machine is and may use.
type hello struct {
	Machine result.Machine
	Limits  preflight.Machine
	Sources []string
}

// said is crew.Said with its error as text, which gob can carry.
type said struct {
	Member   int
	Report   worker.Report
	Err, Log string
}

func wire(s crew.Said) *said {
	text := ""
	if s.Err != nil {
		text = s.Err.Error()
	}
	return &said{s.Member, s.Report, text, s.Log}
}

func (s *said) unwire() crew.Said {
	var err error
	if s.Err != "" {
		err = errors.New(s.Err)
	}
	return crew.Said{Member: s.Member, Report: s.Report, Err: err, Log: s.Log}
}

type gauges struct {
	Resources result.Resources
	Noise     result.Noise
}
