package study

import (
	"bytes"
	"context"
	"errors"
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
	for _, form := range []Form{Quick(), Within(time.Hour), PaperTiming()} {
		seen := map[string]bool{}
		all, err := form.plan()
		if err != nil {
			t.Error(err)
		}
		for _, p := range all {
			if seen[p.ID] {
				t.Errorf("two points are called %s", p.ID)
			}
			seen[p.ID] = true
		}
	}
}

func TestAPointsCommandMeansItsScenario(t *testing.T) {
	all, err := Within(time.Hour).plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		words := strings.Fields(strings.ReplaceAll(p.command(), "'", ""))
		if p.Kind == Fleet && words[2] != p.Scenario {
			t.Errorf("%s: %s", p.ID, p.command())
		}
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
		if got != want || len(r.Runs) == 0 || !strings.HasPrefix(r.Command, "fleet run ") {
			t.Errorf("%s: cause %q, want %q; %+v", id, got, want, r)
		}
	}
}

func TestAnInterruptedStudyKeepsWhatWasDoneAndDropsTheRunUnderWay(t *testing.T) {
	out := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	runs := 0
	_, err := measuring(t, ctx, Options{Out: out, Only: []string{"table2-nats", "table2-nats-tls"},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
			r := found(s)
			if runs++; runs == 4 {
				interrupt()
				r.Partial = true
			}
			return r, nil
		})})
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	records, err := readRecords(filepath.Join(out, DataFolder))
	if err != nil || len(records["table2-nats"].Runs)+len(records["table2-nats-tls"].Runs) != 3 {
		t.Errorf("%v, %+v", err, records)
	}
	for _, r := range records {
		if r.Partial {
			t.Errorf("%s has the run under way", r.Point)
		}
	}
}

func TestAPatternThatNamesNoPointIsAMistake(t *testing.T) {
	if _, err := measuring(t, t.Context(), Options{Only: []string{"table3-*"}}); err == nil || !strings.Contains(err.Error(), "no such point") {
		t.Errorf("got %v", err)
	}
}
