// Package derived measures how long events take through what stands for the study's Secondary Producers, which republish what
// they consume: the stream jobs filter and summarise, which make streams and windows of generators' batches. A subscriber takes what they publish.
package derived

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/host"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/workdir"
)

// ToSummary names what Run times beside the round trip through the job filter.
const ToSummary = "window's end to its summary"

// What the stream jobs read and write by default: topics, and the beginnings of subjects.
const (
	batchesName   = "lifeline.batches"
	derivedName   = "lifeline.derived.all"
	summariesName = "lifeline.summaries"
)

// bus is where messages go and results come from.
type bus interface {
	// publish hands a message over; the broker's acknowledgement is not awaited.
	publish(generator uint32, text []byte) error
	close()
}

// Run starts the scenario's broker and the jobs, publishes, and returns the round trips through the job filter (from when a
// batch was due to the receipt of the derived batch), and beside them the delays of summaries.
func Run(ctx context.Context, s scenario.Scenario) (result.Result, map[string]result.Distribution, error) {
	m := newMeasurement(s, message.NewBatch(s.Message.Events, s.Seed), &message.BatchParser{})
	m.result.Client = "through lifeline-jobs"
	found, err := m.conclude(m.throughJobs(ctx))
	return found, map[string]result.Distribution{ToSummary: m.toSummary.Distribution()}, err
}

// measurement is one run; the lock is for what subscribers touch.
type measurement struct {
	scenario scenario.Scenario
	builder  message.Builder
	result   result.Result

	mu          sync.Mutex
	begin       int64                      // of the measured span, CLOCK_MONOTONIC
	beginWall   int64                      // the same in nanoseconds since 1970, as the jobs' windows have it
	pending     map[message.Identity]int64 // before sending, by what was sent
	parser      message.Parser
	rtt         measure.Recorder
	serviceTime measure.Recorder
	lateness    measure.Recorder
	toSummary   measure.Recorder
}

// measuredRun is the run of every message.
const measuredRun = 1

func newMeasurement(s scenario.Scenario, builder message.Builder, parser message.Parser) *measurement {
	return &measurement{
		scenario: s, builder: builder, parser: parser, pending: map[message.Identity]int64{},
		result: result.Result{Format: result.Format, Scenario: s, Started: time.Now(), Machine: host.Machine()},
	}
}

// conclude is the result of a run that has ended so.
func (m *measurement) conclude(err error) (result.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.result.Elapsed = time.Since(m.result.Started)
	m.result.Times.RTT, m.result.Times.ServiceTime = m.rtt.Distribution(), m.serviceTime.Distribution()
	m.result.Times.Lateness = m.lateness.Distribution()
	m.result.Invalid = host.Judge(m.result.Noise, m.result.Times.Lateness)
	m.result.Valid = len(m.result.Invalid) == 0
	return m.result, err
}

func (m *measurement) throughJobs(ctx context.Context) error {
	folder, err := workdir.New("")
	if err != nil {
		return err
	}
	defer folder.Remove()
	cluster, err := broker.Start(ctx, m.scenario, folder.Path)
	if err != nil {
		return err
	}
	defer cluster.Close(context.WithoutCancel(ctx))
	open, scheme := openJetStream, "nats://"
	if m.scenario.Transport == "kafka" {
		open, scheme = openKafkaOfJobs, "kafka://"
	}
	url := scheme + cluster.Servers()[0]
	jobs, err := startJobs(ctx, url, folder.Path)
	if err != nil {
		return err
	}
	defer jobs.stop()
	bus, err := open(url, m.scenario.Generators, m.derived, m.summary)
	if err != nil {
		return err
	}
	defer bus.close()
	return m.measure(ctx, bus, func() []int { return append(cluster.Processes(), jobs.Pid()) })
}

// measure publishes and waits for what comes back, while the machine is watched; servers are the processes that are not ours.
func (m *measurement) measure(ctx context.Context, bus bus, servers func() []int) error {
	watch, err := host.Start(time.Second, servers, func() []int { return nil })
	if err != nil {
		return err
	}
	watch.Base()
	err = m.publish(ctx, bus, watch)
	watch.Rest()
	m.settle()
	m.result.Resources, m.result.Noise = watch.Stop(m.scenario.Generators)
	return err
}

// publish sends generator after generator at even distances, warm-up first.
func (m *measurement) publish(ctx context.Context, bus bus, watch *host.Watch) error {
	runtime.LockOSThread() // for SleepUntil
	defer runtime.UnlockOSThread()
	begin := clock.Now()
	m.measureFrom(begin + int64(m.scenario.WarmUp.Duration))
	end := begin + int64(m.scenario.Span())
	step := int64(m.scenario.Interval.Duration) / int64(m.scenario.Generators)
	measuring := false
	for number := 0; ; number++ {
		due := begin + int64(number)*step
		if due >= end || ctx.Err() != nil {
			return nil
		}
		clock.SleepUntil(due)
		if !measuring && due >= begin+int64(m.scenario.WarmUp.Duration) {
			measuring = true
			watch.Measure()
		}
		identity := message.Identity{
			Run: measuredRun, Generator: uint32(number % m.scenario.Generators), Sequence: uint32(number / m.scenario.Generators), Intended: due,
		}
		text, err := m.builder.Build(identity)
		if err != nil {
			return err
		}
		if measuring {
			m.sending(identity, len(text))
		}
		if err := bus.publish(identity.Generator, text); err != nil {
			return fmt.Errorf("publishing a message: %w", err)
		}
	}
}

// measureFrom fixes when the measured span begins.
func (m *measurement) measureFrom(begin int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin, m.beginWall = begin, time.Now().UnixNano()+begin-clock.Now()
}

func (m *measurement) sending(identity message.Identity, length int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.result.Counts.Sent++
	m.result.Counts.Connections = m.scenario.Generators
	m.result.Bytes = result.Bytes{PerMessage: float64(length), PerEvent: float64(length) / float64(m.scenario.Message.Events)}
	before := clock.Now()
	m.pending[identity] = before
	m.lateness.Record(before - identity.Intended)
}

// derived takes a message of the derived stream.
func (m *measurement) derived(text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	identity, err := m.parser.Parse(text)
	before, known := m.pending[identity]
	switch {
	case err != nil:
		m.result.Counts.Foreign++
	case known:
		now := clock.Now()
		m.rtt.Record(now - identity.Intended)
		m.serviceTime.Record(now - before)
		m.result.Counts.Received++
		delete(m.pending, identity)
	case identity.Intended >= m.begin:
		m.result.Counts.Duplicated++
	}
}

// summary takes what the job summarise published; one field stands for all of its event. Windows of the warm-up are not timed.
func (m *measurement) summary(text []byte) {
	at := time.Now().UnixNano()
	var window struct {
		Field    string `json:"field"`
		EndNs    int64  `json:"window_end_ns"`
		Revision int    `json:"revision"`
	}
	if json.Unmarshal(text, &window) != nil || window.Field != "power" || window.Revision > 1 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.beginWall != 0 && window.EndNs >= m.beginWall {
		m.toSummary.Record(at - window.EndNs)
	}
}

// settle waits for what is under way; what is then still missing is lost.
func (m *measurement) settle() {
	deadline := time.Now().Add(m.scenario.Drain.Duration)
	left := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.pending)
	}
	for left() > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	m.result.Counts.Lost = uint64(left())
}

// missing is the failure where a program of the repository is not there.
func missing(variable, what string) error {
	return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("%s names no %s: run this through scripts/results-fleet, after scripts/build", variable, what)}
}

var errNotReady = errors.New("lifeline-jobs ended before it was ready")
