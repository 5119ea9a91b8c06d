// Package run is the coordinator: it starts the broker and the workers, monitors them and the machine, injects faults,
// and merges the results.
package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/crew"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/host"
	"lifeline/loadgen/live"
	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transports"
	"lifeline/loadgen/workdir"
	"lifeline/loadgen/worker"
)

// Options of a run that are not part of what it measures.
type Options struct {
	Dir  string    // for the brokers' data and the workers' logs, removed afterwards; empty: the system's temporary folder
	View live.View // updated each second and at every change of phase; may be nil
	// Span receives the measured span (CLOCK_MONOTONIC) before it begins, and again when the run is cut short; may be nil.
	// It is called by the coordinator's goroutine.
	Span func(begin, end int64)

	Agents []string    // HOST:PORT of the machines that the workers run on; none: this one
	TLS    *tls.Config // for the agents, of certificates.Mutual

	Cluster broker.Cluster // a broker that the caller has started for the scenario, and closes; nil: one of the run's own

	// Of runs made apart whose results Merge merges:
	First   int       // number of the first generator
	StartAt time.Time // when the measured span begins; zero: once all have connected, slept and warmed up
}

const (
	prepareTimeout = 60 * time.Second
	tidyTimeout    = 20 * time.Second
	sampleInterval = time.Second

	removing = "removing the run's streams or topics"
)

// Run runs the scenario. Failures of the fleet are in the result; the error reports problems before the fleet starts.
// When ctx ends, the run is cut short and its result is Partial.
func Run(ctx context.Context, s scenario.Scenario, options Options) (result.Result, error) {
	folder, err := workdir.New(options.Dir)
	if err != nil {
		return result.Result{}, err
	}
	defer folder.Remove()
	r := &runner{
		scenario: s, options: options, dir: folder.Path, number: rand.Uint32(),
		result:  result.Result{Format: result.Format, Scenario: s, Started: time.Now(), First: options.First, Machine: host.Machine()},
		history: history{}, seconds: newSeconds(), reports: make(chan crew.Said),
	}
	r.heard, r.ignore = context.WithCancel(context.Background())
	defer r.ignore()
	err = r.run(ctx)
	r.result.Elapsed = time.Since(r.result.Started)
	if err != nil {
		var failure *result.Failure
		if !errors.As(err, &failure) {
			if ctx.Err() == nil {
				return r.result, err
			}
			failure = nil
		}
		r.result.Failure = failure
		r.result.Partial = r.result.Partial || ctx.Err() != nil
	}
	return r.result, nil
}

// runner is one run.
type runner struct {
	scenario scenario.Scenario
	options  Options
	dir      string
	number   uint32 // identifies this run's messages
	result   result.Result

	traits  transport.Traits
	cluster broker.Cluster
	target  worker.Target
	posts   []*post
	workers int // of all posts
	hired   bool
	reports chan crew.Said
	heard   context.Context // of reports: ends when nobody reads them any more
	ignore  context.CancelFunc

	phase    string
	last     lastStatus
	progress []generator.Progress // the last of each worker
	seconds  *seconds
	totals   generator.Times
	slowest  generator.Slowest
	missing  []generator.Missing
	history  history
	begin    int64 // of the measured span
	end      int64
	turn     *time.Timer // when the watch is to take notice of begin or end
	gauging  bool        // since the begin
	finals   int
	happened []happening
}

// happening is an injected fault.
type happening struct {
	fault scenario.Fault
	at    int64
}

// run's error is a *result.Failure where the fleet failed.
func (r *runner) run(ctx context.Context) error {
	var err error
	if r.traits, err = traitsOf(r.scenario); err != nil {
		return err
	}
	r.result.Client = r.traits.Client
	dismiss := sync.OnceFunc(r.dismiss)
	defer dismiss()
	if err := r.findPlaces(ctx); err != nil {
		return err
	}
	if r.cluster = r.options.Cluster; r.cluster == nil {
		if r.scenario.Broker.URL == "" {
			r.enter("starting the broker")
		} else {
			r.enter("looking for the broker")
		}
		if r.cluster, err = broker.Start(ctx, r.scenario, r.dir); err != nil {
			return err
		}
		defer r.tidy("closing the broker", r.cluster.Close)
	}
	if r.target, err = r.aim(); err != nil {
		return err
	}
	over, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	defer r.tidy(removing, over.Remove)

	defer dismiss() // before the rest: workers must not see the broker go
	if err := r.hire(); err != nil {
		return err
	}
	failure := r.conduct(ctx)
	r.ignore()

	r.result.Counts = r.counts()
	r.stop()
	r.conclude()
	if failure == nil {
		failure = missed(r.result.Goals)
	}
	if failure != nil {
		return failure
	}
	return nil
}

// traitsOf opens an unused transport, since there is no broker yet.
func traitsOf(s scenario.Scenario) (transport.Traits, error) {
	nodes := max(1, s.Broker.Nodes)
	if s.Broker.URL != "" {
		nodes = len(s.Broker.Address().Hosts)
	}
	target := worker.Target{Servers: slices.Repeat([]string{"not known yet"}, nodes)}
	if s.Kind().TLS || s.Broker.Address().TLS {
		target.TLS = &broker.TLS{}
	}
	settings, err := target.Settings(s, nil)
	if err != nil {
		return transport.Traits{}, err
	}
	_, traits, err := transports.Open(settings, &s)
	return traits, err
}

// aim is the workers' target.
func (r *runner) aim() (worker.Target, error) {
	who, err := login.Of(r.scenario.Broker)
	return worker.Target{
		Servers: r.cluster.Servers(), TLS: r.cluster.TLS(), Login: who, Replicas: r.scenario.Broker.Replicas,
		Run: fmt.Sprintf("%08x", r.number),
	}, err
}

func (r *runner) prepare(ctx context.Context) (transport.Transport, error) {
	settings, err := r.target.Settings(r.scenario, dial.New(1, prepareTimeout))
	if err != nil {
		return nil, err
	}
	over, _, err := transports.Open(settings, &r.scenario)
	if err != nil {
		return nil, err
	}
	var channels []string
	for number := range r.workers {
		channels = append(channels, r.channels(number)...)
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	if err := over.Prepare(ctx, channels); err != nil {
		r.tidy(removing, over.Remove)
		return nil, refused("preparing the broker", err)
	}
	return over, nil
}

func refused(doing string, err error) *result.Failure {
	var failure *result.Failure
	if errors.As(err, &failure) {
		return failure
	}
	return &result.Failure{Cause: result.Refused, Message: fmt.Sprintf("%s: %v", doing, err)}
}

func (r *runner) channels(number int) []string {
	var channels []string
	for node := range r.target.Servers {
		channels = append(channels, fmt.Sprintf("w%d-n%d", number, node))
	}
	return channels
}

// tidy runs a cleanup with its own timeout; an error is only a remark, since the results are complete.
func (r *runner) tidy(doing string, end func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	if err := end(ctx); err != nil {
		r.result.Remarks = append(r.result.Remarks, fmt.Sprintf("%s: %v", doing, err))
	}
}
