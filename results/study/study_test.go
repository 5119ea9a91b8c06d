package study

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/host"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// found is what a run of the scenario might give: ten round trips from 1 to 10 ms.
func found(s scenario.Scenario) Measured {
	var rtt measure.Recorder
	for ms := range 10 {
		rtt.Record(int64(ms+1) * int64(time.Millisecond))
	}
	return Measured{Result: result.Result{
		Format: result.Format, Scenario: s, Valid: true, Started: time.Now(), Machine: host.Machine(),
		Counts: result.Counts{Connections: s.Generators, Sent: 10, Received: 10},
		Bytes:  result.Bytes{PerMessage: 132, PerEvent: 132},
		Times:  result.Times{RTT: rtt.Distribution(), PRT: rtt.Distribution(), FirstDelivery: rtt.Distribution()},
	}}
}

// only is one runner for points of all kinds.
func only(run Runner) map[Kind]Runner {
	return map[Kind]Runner{Fleet: run, PingPong: run, Stored: run, Derived: run}
}

// measuring runs a study of some points of the quick form and returns its log.
func measuring(t *testing.T, ctx context.Context, options Options) (log string, err error) {
	t.Helper()
	var text bytes.Buffer
	options.Form, options.Log = Quick(), &text
	err = Measure(ctx, options)
	return text.String(), err
}

func TestEachPointOfEachFormIsALegalScenario(t *testing.T) {
	for _, form := range []Form{Quick(), Full(5 * time.Minute), Full(time.Second), PaperTiming()} {
		seen := map[string]bool{}
		all, err := form.plan()
		if err != nil {
			t.Error(err)
		}
		for _, p := range all {
			if seen[p.ID] {
				t.Errorf("%s: two points are called %s", form.Name, p.ID)
			}
			seen[p.ID] = true
		}
	}
}

func TestTheQuickFormTakesAtMostAQuarterOfAnHour(t *testing.T) {
	all, err := Quick().plan()
	if err != nil {
		t.Fatal(err)
	}
	total := time.Duration(0)
	for _, p := range all {
		total += p.estimate()
	}
	if total > 15*time.Minute {
		t.Errorf("it takes about %s", total)
	}
}

func TestAPointsCommandMeansItsScenario(t *testing.T) {
	all, err := Full(time.Minute).plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		words := strings.Fields(strings.ReplaceAll(p.command(), "'", ""))
		if p.Kind == Fleet && words[2] != p.Scenario {
			t.Errorf("%s: %s", p.ID, p.command())
		}
	}
	if command := all[0].command(); command != "fleet run table2-nats --set generators=750 --set duration=1m" {
		t.Error(command)
	}
}

func TestAPointThatFailsIsRecordedWithItsCauseAndTheNextOneBegins(t *testing.T) {
	out := t.TempDir()
	_, err := measuring(t, t.Context(), Options{Out: out, Only: []string{"table2-nats", "table2-nats-tls", "table2-mqtt-*"},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
			switch s.Transport {
			case "nats-tls":
				return Measured{}, errors.New("no certificate")
			case "mqtt":
				return Measured{Result: result.Result{Failure: &result.Failure{Cause: result.Refused, Message: "no"}}}, nil
			}
			return found(s), nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]result.Cause{"table2-nats": "", "table2-nats-tls": result.SetUp, "table2-mqtt-qos1": result.Refused} {
		r, err := readRecord(filepath.Join(out, DataFolder, id+".json"))
		if err != nil {
			t.Fatal(err)
		}
		got := result.Cause("")
		if r.Failure != nil {
			got = r.Failure.Cause
		}
		if got != want || r.Form != "quick" || !strings.HasPrefix(r.Command, "fleet run ") {
			t.Errorf("%s: cause %q, want %q; %+v", id, got, want, r)
		}
	}
}

func TestAPointThatWasNoisyIsRepeatedAsOftenAsAsked(t *testing.T) {
	out := t.TempDir()
	runs := 0
	log, err := measuring(t, t.Context(), Options{Out: out, Repeats: 2, Only: []string{"table2-nats"},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
			runs++
			r := found(s)
			r.Valid, r.Invalid = false, []string{"a neighbour"}
			return r, nil
		})})
	if err != nil || runs != 3 || strings.Count(log, "not valid (a neighbour); once more") != 2 {
		t.Errorf("%v, %d runs\n%s", err, runs, log)
	}
	if r, err := readRecord(filepath.Join(out, DataFolder, "table2-nats.json")); err != nil || r.Attempts != 3 {
		t.Errorf("%v, %d attempts", err, r.Attempts)
	}
}

func TestAnInterruptedStudyLeavesWhatWasDone(t *testing.T) {
	out := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := measuring(t, ctx, Options{Out: out, Only: []string{"table2-nats", "table2-nats-tls"},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
			r := found(s)
			if s.Transport == "nats-tls" {
				interrupt()
				r.Partial = true
			}
			return r, nil
		})})
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(out, DataFolder, "table2-nats.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(out, DataFolder, "table2-nats-tls.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the interrupted point is there: %v", err)
	}
}

func TestAPatternThatNamesNoPointIsAMistake(t *testing.T) {
	if _, err := measuring(t, t.Context(), Options{Only: []string{"table3-*"}}); err == nil || !strings.Contains(err.Error(), "no such point") {
		t.Errorf("got %v", err)
	}
}
