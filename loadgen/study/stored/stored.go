// Package stored measures queries of what a broker keeps, while a fleet publishes: R-GMA's latest and history queries, which a
// stream or a topic answers.
package stored

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/format"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/workdir"
)

// Names of what Run times beside the fleet's round trips.
const (
	Latest    = "latest: the query"
	LatestAge = "latest: age of its answer"
	History   = "history: the query of the last minute"
)

const (
	latestEvery   = 100 * time.Millisecond
	historyEvery  = time.Second
	historySpan   = time.Minute // R-GMA's history retention in the study
	answerTimeout = 10 * time.Second
)

// archive is a broker's stream or topic of the fleet.
type archive interface {
	// latest is the newest message; errNothing when there is none yet.
	latest(ctx context.Context) ([]byte, error)
	// history is how many messages are there from an instant on; it reads them all.
	history(ctx context.Context, from time.Time) (int, error)
	close()
}

var errNothing = errors.New("nothing has been published yet")

// Run starts the scenario's broker, runs the fleet against it, and asks queries all the while. Times are of those that fall into the
// measured span: a broker that warms up is slower, and when nobody publishes any more the newest message grows old.
func Run(ctx context.Context, s scenario.Scenario) (result.Result, map[string]result.Distribution, error) {
	folder, err := workdir.New("")
	if err != nil {
		return result.Result{}, nil, err
	}
	defer folder.Remove()
	cluster, err := broker.Start(ctx, s, folder.Path)
	if err != nil {
		return result.Result{}, nil, err
	}
	defer cluster.Close(context.WithoutCancel(ctx))
	open := openStream
	if s.Transport == "kafka" {
		open = openTopics
	}
	a, err := open(cluster.Servers()[0])
	if err != nil {
		return result.Result{}, nil, err
	}
	defer a.close()

	asking, stop := context.WithCancel(ctx)
	asked := make(chan *answers)
	var measured span
	go func() { asked <- ask(asking, a, &measured) }()
	found, err := run.Run(ctx, s, run.Options{Span: measured.set, Cluster: cluster})
	stop()
	answers := <-asked
	if err == nil && found.Failure == nil && answers.latest.Count() == 0 {
		err = fmt.Errorf("no query was answered: %w", answers.err)
	}
	found.Remarks = append(found.Remarks, fmt.Sprintf("%d history queries read %s messages on average",
		answers.history.Count(), format.Number(float64(answers.read)/max(1, float64(answers.history.Count())))))
	return found, map[string]result.Distribution{
		Latest: answers.latest.Distribution(), LatestAge: answers.age.Distribution(), History: answers.history.Distribution(),
	}, err
}

// span is the time that is measured, in CLOCK_MONOTONIC; any goroutine may ask for it.
type span struct{ begin, end atomic.Int64 }

func (s *span) set(begin, end int64) {
	s.end.Store(end)
	s.begin.Store(begin)
}

// holds reports whether all that happened between the two instants counts.
func (s *span) holds(from, to int64) bool {
	begin := s.begin.Load()
	return begin != 0 && from >= begin && to <= s.end.Load()
}

type answers struct {
	latest, age, history measure.Recorder
	read                 int
	err                  error // the last one
}

// ask asks one query at a time until ctx ends. Errors are expected: before the fleet has made its stream, and once it has
// removed it.
func ask(ctx context.Context, a archive, measured *span) *answers {
	var all answers
	parser := message.RawParser{}
	nextHistory := time.Now()
	ticker := time.NewTicker(latestEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return &all
		case <-ticker.C:
		}
		began := clock.Now()
		newest, err := a.latest(ctx)
		answered := clock.Now()
		if err != nil {
			all.err = err
			continue
		}
		identity, err := parser.Parse(newest)
		if err != nil {
			all.err = err
			continue
		}
		if measured.holds(began, answered) {
			all.latest.Record(answered - began)
			all.age.Record(answered - identity.Intended)
		}
		if time.Now().Before(nextHistory) {
			continue
		}
		nextHistory = time.Now().Add(historyEvery)
		began = clock.Now()
		read, err := a.history(ctx, time.Now().Add(-historySpan))
		if err != nil {
			all.err = err
			continue
		}
		if answered = clock.Now(); measured.holds(began, answered) {
			all.history.Record(answered - began)
			all.read += read
		}
	}
}
