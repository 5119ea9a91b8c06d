package agent

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"lifeline/loadgen/crew"
	"lifeline/loadgen/host"
	"lifeline/loadgen/preflight"
	"lifeline/loadgen/workdir"
	"lifeline/loadgen/worker"
)

// session is one run on an agent's machine.
type session struct {
	options Options
	flush   func() error

	writing sync.Mutex
	reports *gob.Encoder

	folder  *workdir.Folder
	crew    *crew.Crew
	watch   *host.Watch
	sampled chan struct{} // closed to end the reports of samples
	reading sync.WaitGroup
	sent    int // samples
}

func newSession(options Options, w http.ResponseWriter) *session {
	return &session{
		options: options, reports: gob.NewEncoder(w), flush: http.NewResponseController(w).Flush, sampled: make(chan struct{}),
	}
}

// serve follows orders until they end.
func (s *session) serve(from io.Reader) error {
	defer s.end()
	limits, err := preflight.Read()
	if err != nil {
		return s.fail(err)
	}
	limits.Sources = len(s.options.Sources)
	if s.report(report{Hello: &hello{Machine: host.Machine(), Limits: limits, Sources: s.options.Sources}}) != nil {
		return nil // it closed the stream
	}
	orders := gob.NewDecoder(from)
	for {
		var next order
		if err := orders.Decode(&next); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("its coordinator is gone: %w", err)
		}
		if err := s.obey(next); err != nil {
			return s.fail(err)
		}
	}
}

func (s *session) obey(next order) error {
	switch {
	case next.Hire > 0:
		return s.hire(next.Hire)
	case s.crew == nil || s.watch == nil:
		return errors.New("an order came out of turn")
	case next.Worker != nil:
		// A worker that is gone is reported by the end of its reports.
		_ = s.crew.Order(next.Worker.Number, next.Worker.Order)
	case next.Gauge == base:
		s.watch.Base()
	case next.Gauge == measure:
		s.watch.Measure()
	case next.Gauge == rest:
		s.watch.Rest()
	case next.Stop != nil:
		s.endSamples()
		watch := s.watch
		s.watch = nil
		var last gauges
		last.Resources, last.Noise = watch.Stop(next.Stop.Connections)
		return s.report(report{Samples: watch.Samples()[s.sent:], Gauges: &last})
	}
	return nil
}

func (s *session) hire(workers int) (err error) {
	if s.crew != nil {
		return errors.New("workers were hired twice")
	}
	if s.folder, err = workdir.New(s.options.Dir); err != nil {
		return err
	}
	if s.crew, err = crew.Hire(workers, s.folder.Path, s.say); err != nil {
		return err
	}
	if s.watch, err = host.Start(time.Second, func() []int { return nil }, s.crew.Processes); err != nil {
		return err
	}
	s.reading.Go(func() { s.sample(s.watch) })
	return nil
}

func (s *session) say(of crew.Said) {
	_ = s.report(report{Said: wire(of)}) // a stream that is broken ends the run by its other direction
}

// sample reports each new sample of the watch.
func (s *session) sample(watch *host.Watch) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-s.sampled:
			return
		case <-ticker.C:
			all := watch.Samples()
			found, until := watch.Stalls()
			if s.report(report{Samples: all[s.sent:], Stalls: &worker.Stalls{Found: found, Until: until}}) != nil {
				return
			}
			s.sent = len(all)
		}
	}
}

func (s *session) endSamples() {
	close(s.sampled)
	s.reading.Wait()
}

func (s *session) report(r report) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.reports.Encode(r); err != nil {
		return err
	}
	return s.flush()
}

func (s *session) fail(err error) error {
	_ = s.report(report{Failure: err.Error()})
	return err
}

// end leaves nothing of the run.
func (s *session) end() {
	if s.watch != nil {
		s.endSamples()
		s.watch.Stop(0)
	}
	if s.crew != nil {
		s.crew.Dismiss()
	}
	if s.folder != nil {
		_ = s.folder.Remove()
	}
}
