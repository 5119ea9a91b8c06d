package run

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// apart is a run of a thousand messages; record sees each of its round trips.
func apart(first, generators int, at time.Time, record func(int64)) result.Result {
	random := rand.New(rand.NewPCG(uint64(first), 1))
	s := scenario.Default()
	s.Generators, s.Broker.URL, s.Objectives = generators, "nats://broker.example", []scenario.Objective{{Within: scenario.Seconds(1), Share: 0.9}}
	r := result.Result{
		Format: result.Format, Scenario: s, First: first, Started: at.Add(-time.Second), Origin: at, Elapsed: 12 * time.Second, Valid: true,
		Machine: result.Machine{CPU: "one", Cores: 2, Memory: 1 << 30}, Counts: result.Counts{Connections: generators, Sent: 1000, Received: 1000},
		Bytes:  result.Bytes{PerMessage: float64(100 + first)},
		Broker: result.BrokerCounters{Before: result.Counters{In: 7, Out: 7}, After: result.Counters{In: 1007, Out: 1007}, Compared: true, Agree: true},
		Goals:  []result.Goal{{Met: true}},
	}
	var times generator.Times
	for range 1000 {
		trip := int64(random.ExpFloat64() * 1e6)
		times.RTT.Record(trip)
		times.PT.Record(-trip)
		record(trip)
	}
	r.Times = times.Result()
	for second := range 10 {
		r.Timeline = append(r.Timeline, result.Second{At: float64(second), Sent: 100, Received: 100, P99: int64(first + second), Idle: 0.5})
	}
	r.Slowest = []result.Trip{{Generator: uint32(first), At: 3, RTT: int64(1000 + first)}}
	r.Resources.Client = result.Usage{Processes: 2, CPU: 0.5, BaseRSS: 100, PeakRSS: 100 + 10*int64(generators)}
	return r
}

func TestMergedRunsAreAsOneThatRecordedAll(t *testing.T) {
	var all generator.Times
	record := func(trip int64) {
		all.RTT.Record(trip)
		all.PT.Record(-trip)
	}
	at := time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)
	first, second := apart(0, 20, at.Add(2*time.Second+100*time.Millisecond), record), apart(20, 30, at, record)
	second.Broker.Before, second.Broker.After = result.Counters{In: 5, Out: 5}, result.Counters{In: 2005, Out: 2005}
	second.Invalid = []string{"the machine stalls"}
	got, err := Merge([]string{"a", "b"}, []result.Result{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if want := all.Result(); !reflect.DeepEqual(got.Times, want) {
		t.Errorf("times are not those of all:\n%+v\n%+v", got.Times.RTT, want.RTT)
	}
	if c := got.Counts; c.Sent != 2000 || c.Connections != 50 || got.Scenario.Generators != 50 || got.Bytes.PerMessage != 110 {
		t.Errorf("%+v, %+v", c, got.Bytes)
	}
	if !got.Broker.Compared || !got.Broker.Agree || got.Broker.Before.In != 5 || got.Broker.After.In != 2005 {
		t.Errorf("the broker's counters: %+v", got.Broker)
	}
	if len(got.Timeline) != 12 || got.Timeline[1].Sent != 100 || got.Timeline[2].Sent != 200 || got.Timeline[11].Sent != 100 || got.Timeline[2].P99 != 22 {
		t.Errorf("%+v", got.Timeline)
	}
	if s := got.Slowest; len(s) != 2 || s[0].Generator != 20 || s[0].At != 3 || s[1].At != 5.1 {
		t.Errorf("%+v", s)
	}
	if got.Valid || len(got.Invalid) != 1 || got.Invalid[0] != "b: the machine stalls" || len(got.Disputed) > 0 {
		t.Errorf("valid %t: %q", got.Valid, got.Invalid)
	}
	if len(got.Hosts) != 2 || got.Machine.Cores != 4 || got.Resources.Client.PerConnection != 10 || !got.Started.Equal(second.Started) ||
		got.Elapsed != first.Started.Add(first.Elapsed).Sub(second.Started) {
		t.Errorf("%d hosts, %+v, %+v, %v for %v", len(got.Hosts), got.Machine, got.Resources, got.Started, got.Elapsed)
	}
	if len(got.Goals) != 1 || !got.Goals[0].Met || got.Goals[0].Share != 1 {
		t.Errorf("%+v", got.Goals)
	}
}

func TestRunsThatDoNotAddUpAreNotMerged(t *testing.T) {
	at := time.Now()
	ignore := func(int64) {}
	for says, change := range map[string]func(*result.Result){
		"both have a generator 19": func(r *result.Result) { r.First = 19 },
		"b failed: node 1 ended":   func(r *result.Result) { r.Failure = &result.Failure{Cause: result.BrokerExit, Message: "node 1 ended"} },
		"b has measured nothing":   func(r *result.Result) { r.Times = result.Times{} },
		"b is of an earlier fleet": func(r *result.Result) { r.Times.RTT.Sum = "" },
		"b: a distribution's sum":  func(r *result.Result) { r.Times.RTT.Sum = "1e5" },
	} {
		second := apart(20, 20, at, ignore)
		change(&second)
		if _, err := Merge([]string{"a", "b"}, []result.Result{apart(0, 20, at, ignore), second}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := Merge([]string{"a"}, []result.Result{apart(0, 20, at, ignore)}); err == nil {
		t.Error("one run is merged")
	}
}
