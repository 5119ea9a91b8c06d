package study

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// timed is a run with these round trips, in ms.
func timed(ms ...float64) Measured {
	var rtt measure.Recorder
	for _, each := range ms {
		rtt.Record(int64(each * 1e6))
	}
	m := found(scenario.Default())
	m.Times.RTT = rtt.Distribution()
	m.Counts = result.Counts{Connections: 800, Sent: uint64(len(ms)), Received: uint64(len(ms)), Lost: 1}
	m.Broker.After = result.Counters{In: 3, Routed: -1, Nodes: []result.Node{{In: 3}}}
	m.Resources.Idle = ms[0] / 100
	return m
}

func recorded(t *testing.T, runs ...Measured) Record {
	t.Helper()
	r := Record{Point: "a"}
	for _, m := range runs {
		if err := r.add(m, 7); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestRunsAreTakenTogetherExactly(t *testing.T) {
	r := recorded(t, timed(1, 2, 3), timed(30), timed(4, 5))
	if want := timed(1, 2, 3, 30, 4, 5).Times.RTT; r.Times.RTT.Histogram != want.Histogram || r.Times.RTT.Mean != want.Mean || r.Times.RTT.Max != want.Max {
		t.Errorf("%+v, not %+v", r.Times.RTT, want)
	}
	if c := r.Counts; c.Sent != 6 || c.Lost != 3 || c.Connections != 800 {
		t.Errorf("%+v", c)
	}
	if b := r.Broker.After; b.In != 9 || b.Nodes[0].In != 9 || b.Routed != -1 {
		t.Errorf("%+v", b)
	}
	if r.Resources.Idle != 0.04 || r.Runs[1].Resources.Idle != 0.3 { // the median of 1, 30 and 4 %
		t.Errorf("idle %v", r.Resources.Idle)
	}
	if len(r.Runs) != 3 || r.Runs[0].Seed != 7 || r.Runs[0].Times.RTT.Histogram != "" || r.Runs[0].Times.RTT.At(100) != 3e6 {
		t.Errorf("%+v", r.Runs[0])
	}
}

func TestTimesWithoutStallsHaveThoseOfRunsThatHadNone(t *testing.T) {
	stalled := timed(1, 2, 300)
	stalled.Stalls = result.Stalls{Count: 1, Total: 3e8}
	stalled.Times.RTTWithoutStalls = timed(1, 2).Times.RTT
	for _, runs := range [][]Measured{{timed(3), stalled, timed(4)}, {stalled, timed(3), timed(4)}} {
		r := recorded(t, runs...)
		if got := r.Times.RTTWithoutStalls; got.Histogram != timed(1, 2, 3, 4).Times.RTT.Histogram || r.Stalls.Count != 1 || r.Times.RTT.Count != 5 {
			t.Errorf("%+v, %+v", got, r.Stalls)
		}
	}
	if r := recorded(t, timed(1), timed(2)); r.Times.RTTWithoutStalls.Count != 0 {
		t.Errorf("without stalls: %+v", r.Times.RTTWithoutStalls)
	}
}

func TestDisturbedRunsCountOnlyWhereThereAreNoOthers(t *testing.T) {
	disturbed := func(ms float64) Measured {
		m := timed(ms)
		m.Valid, m.Invalid = false, []string{"a neighbour"}
		return m
	}
	failed := Measured{Result: result.Result{Failure: &result.Failure{Cause: result.BrokerExit, Message: "gone"}}}
	for name, c := range map[string]struct {
		runs  []Measured
		times int64 // in RTT
		valid bool
		sent  uint64
		used  int
	}{
		"only disturbed ones":        {[]Measured{disturbed(1), disturbed(2)}, 2, false, 2, 2},
		"a good one after":           {[]Measured{disturbed(1), timed(2), disturbed(3)}, 1, true, 3, 1},
		"a failed one first":         {[]Measured{failed, timed(1), timed(2)}, 2, true, 2, 2},
		"a failed one among others":  {[]Measured{timed(1), failed, timed(2)}, 2, true, 2, 2},
		"nothing but failures":       {[]Measured{failed, failed}, 0, false, 0, 0},
		"disturbed and failed, good": {[]Measured{failed, disturbed(1), failed, timed(1), timed(3)}, 2, true, 3, 2},
	} {
		r := recorded(t, c.runs...)
		if r.Times.RTT.Count != c.times || r.Valid != c.valid || r.Counts.Sent != c.sent || len(r.used()) != c.used || len(r.Runs) != len(c.runs) {
			t.Errorf("%s: %d times, valid %v, %d sent, %d used of %d", name, r.Times.RTT.Count, r.Valid, r.Counts.Sent, len(r.used()), len(r.Runs))
		}
		if broke := c.used == 0; r.Broke() != broke {
			t.Errorf("%s: broke %v", name, r.Broke())
		}
	}
}

func TestAPointSaysWhatItNeedsToBeTrusted(t *testing.T) {
	many := func(runs, messages int) Record {
		ms := make([]float64, messages)
		for i := range ms {
			ms[i] = float64(i + 1)
		}
		r := Record{Point: "a"}
		for range runs {
			if err := r.add(timed(ms...), 1); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	disturbed := many(5, 20)
	disturbed.Runs[2].Valid = false
	for _, c := range []struct {
		r       Record
		percent float64
		needs   string
	}{
		{many(1, 5000), 99.8, "needs 5"},
		{many(5, 5000), 99.8, ""},
		{many(5, 4999), 99.8, "p99.8 needs 5,000 messages a run, has 4,999"},
		{many(5, 1000), 99, ""},
		{many(5, 19), 50, "p50 needs 20 messages a run, has 19"},
		{many(5, 20), 50, ""},
		{disturbed, 50, "needs 5"},
		{recorded(t, Measured{Result: result.Result{Failure: &result.Failure{Cause: result.BrokerExit}}}), 50, "failed: broker-exit"},
	} {
		if ok, needs := c.r.Trusted(c.percent); needs != c.needs || ok != (needs == "") {
			t.Errorf("%v, %q, not %q", ok, needs, c.needs)
		}
	}
}

func TestATableHasMedianAndRange(t *testing.T) {
	r := recorded(t, timed(1), timed(3), timed(2))
	if got := r.millis(rtt(50)); got != "2.00 (1.00 to 3.00)" {
		t.Error(got)
	}
	if got := recorded(t, timed(1)).millis(rtt(50)); got != "1.00" {
		t.Error(got)
	}
}

func TestAFileOfOneRunIsAPointOfOneRun(t *testing.T) {
	folder := t.TempDir()
	old, err := json.Marshal(struct {
		Point    string `json:"point"`
		Form     string `json:"form"`
		Attempts int    `json:"attempts"`
		Measured
	}{"a", "full, 5m", 1, timed(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "a.json")
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(file)
	if err != nil || len(r.Runs) != 1 || r.millis(rtt(100)) != "2.00" || r.Times.RTT.Count != 2 || r.Runs[0].Counts.Sent != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	if err := r.add(timed(3), 1); err != nil || r.Times.RTT.Count != 3 || len(r.used()) != 2 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestTwoStudiesAreComparedPointByPoint(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	for folder, factor := range map[string]float64{before: 1, after: 2} {
		changed, same := Record{Point: "changed"}, Record{Point: "same"}
		for i := range 5 {
			ms := 10 + float64(i)/10
			if err := changed.add(timed(factor*ms), 1); err != nil {
				t.Fatal(err)
			}
			if err := same.add(timed(ms+factor/100), 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range []Record{changed, same} {
			if err := r.write(filepath.Join(folder, DataFolder)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var text strings.Builder
	if err := WriteChanges(&text, before, after); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if !strings.HasPrefix(lines[0], "changed, p50: 20.4 ms (20.0 ms to 20.8 ms), was 10.2 ms") || !strings.Contains(lines[0], "2.00 times (") ||
		!strings.Contains(lines[0], "p 0.008") || !strings.Contains(lines[2], "same, p50") || !strings.Contains(lines[2], "no change that 5 runs and 5 runs show") {
		t.Error(text.String())
	}
	if err := WriteChanges(&text, t.TempDir(), after); err == nil {
		t.Error("no study before, and no error")
	}
}
