// Package stored measures queries of what a broker keeps, while a fleet publishes: R-GMA's latest and history queries, which a
// stream or a topic answers.
package stored

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/run"
	"lifeline/loadgen/scenario"
)

// Names of what Run times beside the fleet's round trips.
const (
	Latest    = "latest: the query"
	LatestAge = "latest: age of its answer"
	History   = "history: the query of the last minute"
)

const (
	latestEvery  = 100 * time.Millisecond
	historyEvery = time.Second
	historySpan  = time.Minute // R-GMA's history retention in the study
	patience     = 10 * time.Second
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

// Run starts the scenario's broker, runs the fleet against it, and asks queries from the first message to the last.
func Run(ctx context.Context, s scenario.Scenario) (result.Result, map[string]result.Distribution, error) {
	dir, err := os.MkdirTemp("", "stored-")
	if err != nil {
		return result.Result{}, nil, fmt.Errorf("making a folder for the run: %w", err)
	}
	defer os.RemoveAll(dir)
	cluster, err := broker.Start(ctx, s, dir)
	if err != nil {
		return result.Result{}, nil, err
	}
	defer cluster.Close(context.WithoutCancel(ctx))
	open := openStream
	external, scheme := s, "nats"
	if s.Transport == "kafka" {
		open, scheme = openTopics, "kafka"
	}
	external.Broker.URL = scheme + "://" + cluster.Servers()[0]
	a, err := open(cluster.Servers()[0])
	if err != nil {
		return result.Result{}, nil, err
	}
	defer a.close()

	asking, stop := context.WithCancel(ctx)
	asked := make(chan *answers)
	go func() { asked <- ask(asking, a) }()
	found, err := run.Run(ctx, external, run.Options{})
	stop()
	answers := <-asked
	if err == nil && found.Failure == nil && answers.latest.Count() == 0 {
		err = fmt.Errorf("no query was answered: %w", answers.err)
	}
	found.Remarks = append(found.Remarks, fmt.Sprintf("%d history queries read %.0f messages on average",
		answers.history.Count(), float64(answers.read)/max(1, float64(answers.history.Count()))))
	return found, map[string]result.Distribution{
		Latest: answers.latest.Distribution(), LatestAge: answers.age.recorder.Distribution(), History: answers.history.Distribution(),
	}, err
}

type answers struct {
	latest, history measure.Recorder
	age             ages
	read            int
	err             error // the last one
}

// ages are of the newest messages when they are answered. Queries go on for a little longer than the fleet publishes, and its last
// message then grows old for no fault of the broker: of the answers with that one only the first counts.
type ages struct {
	recorder measure.Recorder
	newest   message.Identity
	again    []int64 // of later answers with the same message
}

func (a *ages) record(newest message.Identity, age int64) {
	if newest == a.newest && a.recorder.Count() > 0 {
		a.again = append(a.again, age)
		return
	}
	for _, age := range a.again { // a newer one has come, so it was the broker that kept the old one for so long
		a.recorder.Record(age)
	}
	a.again, a.newest = a.again[:0], newest
	a.recorder.Record(age)
}

// ask asks one query at a time until ctx ends. Errors are expected: before the fleet has made its stream, and once it has
// removed it.
func ask(ctx context.Context, a archive) *answers {
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
		all.latest.Record(answered - began)
		all.age.record(identity, answered-identity.Intended)
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
		all.history.Record(clock.Now() - began)
		all.read += read
	}
}
