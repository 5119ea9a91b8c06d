package study

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// taking is what a run of the scenario might find that takes its estimated time, with all round trips of so many ms.
func taking(t *testing.T, s scenario.Scenario, ms float64) Measured {
	t.Helper()
	var rtt measure.Recorder
	for range messagesFor(99.8) {
		rtt.Record(int64(ms * 1e6))
	}
	m := found(s)
	m.Times.RTT, m.Elapsed = rtt.Distribution(), planned{scenario: s}.estimate()
	return m
}

// measuredIn measures points of the whole study in a budget and returns their runs in order, and what it logged.
func measuredIn(t *testing.T, out string, budget time.Duration, points []string, run func(scenario.Scenario) Measured) (order []string, log string) {
	t.Helper()
	var text strings.Builder
	options := Options{Out: out, Form: Within(budget), Only: points, Seed: 1, Log: &text,
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
			order = append(order, s.Name)
			return run(s), nil
		})}
	if err := Measure(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return order, text.String()
}

func TestFiveRoundsOfAllPointsFitIntoTwoHours(t *testing.T) {
	all, err := Within(2 * time.Hour).plan()
	if err != nil {
		t.Fatal(err)
	}
	round := time.Duration(0)
	for _, p := range all {
		round += p.estimate()
	}
	if rounds := 5 * round; rounds > 2*time.Hour {
		t.Errorf("they take %s", rounds)
	}
}

func TestARunOfEachPointHasTheMessagesOfItsPercentiles(t *testing.T) {
	all, err := Within(time.Hour).plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		s := p.scenario
		messages := int64(float64(s.Generators) * s.Duration.Seconds() / s.Interval.Seconds())
		needed := messagesFor(95)
		if strings.HasPrefix(p.ID, "table2-") && !strings.Contains(p.ID, "triple") && !strings.Contains(p.ID, "transaction") || s.Generators >= 5000 {
			needed = messagesFor(99.8)
		}
		if messages < needed {
			t.Errorf("%s: %d messages a run, not %d", p.ID, messages, needed)
		}
	}
}

func TestEachPointHasItsTurnBeforeAnyHasTheNext(t *testing.T) {
	points := []string{"table2-*", "single-kafka-*", "cluster-six-*"}
	order, _ := measuredIn(t, t.TempDir(), 100*time.Hour, points, func(s scenario.Scenario) Measured { return taking(t, s, 1) })
	number := len(order) / EnoughRuns
	if len(order) != number*EnoughRuns {
		t.Fatalf("%d runs", len(order))
	}
	rounds := slices.Collect(slices.Chunk(order, number))
	first := slices.Sorted(slices.Values(rounds[0]))
	if len(slices.Compact(slices.Clone(first))) != number {
		t.Errorf("a point has two turns in the first round: %v", rounds[0])
	}
	for i, round := range rounds[1:] {
		if !slices.Equal(slices.Sorted(slices.Values(round)), first) {
			t.Errorf("round %d measures other points than the first: %v", i+2, round)
		}
		if slices.Equal(round, rounds[0]) {
			t.Errorf("round %d has the order of the first", i+2)
		}
	}
}

func TestAStudyEndsWithItsBudgetAndSaysWhatIsMissing(t *testing.T) {
	spent := time.Duration(0)
	points := []string{"table2-nats", "table2-nats-tls", "cluster-six-100000"}
	order, log := measuredIn(t, t.TempDir(), 2*time.Minute, points, func(s scenario.Scenario) Measured {
		m := taking(t, s, 1)
		spent += m.Elapsed
		return m
	})
	count := map[string]int{}
	for _, id := range order {
		count[id]++
	}
	// One run of a minute and a half, and the short ones in the rest: they do not wait for what no longer fits.
	if short := count["table2-nats"] + count["table2-nats-tls"]; spent > 2*time.Minute || spent < 110*time.Second || count["cluster-six-100000"] != 1 || short < 3 {
		t.Errorf("%s, %v", spent, count)
	}
	if !strings.Contains(log, "cluster-six-100000: 1 of 5 runs, one more takes 1:") || !strings.Contains(log, ": more time is needed") {
		t.Error(log)
	}
}

func TestTheRestOfTheTimeGoesWhereTheSpreadIsLargest(t *testing.T) {
	runs := map[string]int{}
	order, _ := measuredIn(t, t.TempDir(), 10*time.Minute, []string{"table2-nats", "table2-nats-tls", "table2-mqtt-qos0"},
		func(s scenario.Scenario) Measured {
			runs[s.Name]++
			odd := float64(runs[s.Name] % 2)
			return taking(t, s, map[string]float64{
				"table2-nats": 1, "table2-nats-tls": 10 + odd, "table2-mqtt-qos0": 2 + 2*odd, // ranges of 0, about 10 % and about 70 %
			}[s.Name])
		})
	if len(order) < 50 || runs["table2-nats"] != 5 || runs["table2-nats-tls"] != 5 || runs["table2-mqtt-qos0"] != len(order)-10 {
		t.Errorf("%v", runs)
	}
}

func TestAPointThatOtherLoadDisturbedIsTriedTwiceMore(t *testing.T) {
	order, _ := measuredIn(t, t.TempDir(), 10*time.Hour, []string{"table2-nats"}, func(s scenario.Scenario) Measured {
		m := taking(t, s, 1)
		m.Valid = false
		return m
	})
	if len(order) != EnoughRuns+moreTries {
		t.Errorf("%d runs", len(order))
	}
}

func TestAStudyGoesOnWhereItWasStopped(t *testing.T) {
	out := t.TempDir()
	points := []string{"table2-nats", "table2-nats-tls", "table2-mqtt-qos0", "single-nats-25000"}
	run := func(s scenario.Scenario) Measured {
		m := taking(t, s, 1)
		if s.Generators == 25_000 {
			m = Measured{Result: result.Result{Failure: &result.Failure{Cause: result.Descriptors, Message: "too many"}}}
		}
		return m
	}
	before, _ := measuredIn(t, out, time.Minute, points, run)
	after, log := measuredIn(t, out, time.Hour, points, run)
	count := map[string]int{}
	for _, id := range slices.Concat(before, after) {
		count[id]++
	}
	for _, id := range points[:3] {
		if r, err := readRecord(filepath.Join(out, DataFolder, id+".json")); err != nil || len(r.Runs) != 5 || count[id] != 5 ||
			r.Times.RTT.Count != 5*messagesFor(99.8) || r.Counts.Sent != 50 {
			t.Errorf("%s: %v, %d runs recorded, %d made", id, err, len(r.Runs), count[id])
		}
	}
	if len(before) < 5 || len(after) < 5 || count["single-nats-25000"] != 1 || !strings.Contains(log, " spent, ") {
		t.Errorf("%v, then %v\n%s", before, after, log)
	}
	if again, _ := measuredIn(t, out, time.Hour, points, run); len(again) != 0 {
		t.Errorf("measured %v once more", again)
	}
}

func TestRunsOfAnotherWeekMachineOrScenarioDoNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Measured)
		runs   int
	}{
		"some days ago":    {func(m *Measured) { m.Started = m.Started.Add(-resumable + time.Hour) }, 4},
		"another week":     {func(m *Measured) { m.Started = m.Started.Add(-resumable - time.Hour) }, 5},
		"another machine":  {func(m *Measured) { m.Machine.CPU = "another" }, 5},
		"another scenario": {func(m *Measured) { m.Scenario.Generators++ }, 5},
	} {
		out := t.TempDir()
		all, err := Within(time.Hour).plan()
		if err != nil {
			t.Fatal(err)
		}
		p := all[slices.IndexFunc(all, func(p planned) bool { return p.ID == "table2-nats" })]
		m := taking(t, p.scenario, 1)
		c.change(&m)
		old := Record{Point: p.ID}
		if err := old.add(m, 1); err != nil {
			t.Fatal(err)
		}
		if err := old.write(filepath.Join(out, DataFolder)); err != nil {
			t.Fatal(err)
		}
		order, _ := measuredIn(t, out, time.Hour, []string{p.ID}, func(s scenario.Scenario) Measured { return taking(t, s, 1) })
		if len(order) != c.runs {
			t.Errorf("%s: %d runs, not %d", name, len(order), c.runs)
		}
	}
}

func TestWithoutABudgetAStudyEndsWithItsRounds(t *testing.T) {
	number := 0
	order, _ := measuredIn(t, t.TempDir(), 0, []string{"table2-nats"}, func(s scenario.Scenario) Measured {
		number++
		return taking(t, s, float64(number))
	})
	if len(order) != EnoughRuns {
		t.Errorf("%d runs", len(order))
	}
}

func TestAgainBeginsAnew(t *testing.T) {
	out := t.TempDir()
	options := Options{Out: out, Only: []string{"table2-nats"}, Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
		return taking(t, s, 1), nil
	})}
	for range 2 {
		options.Again = true
		if _, err := measuring(t, t.Context(), options); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := readRecord(filepath.Join(out, DataFolder, "table2-nats.json")); err != nil || len(r.Runs) != EnoughRuns {
		t.Errorf("%v, %d runs", err, len(r.Runs))
	}
}

func TestTheMediansUncertaintyFallsWithTheRuns(t *testing.T) {
	s := &schedule{rounds: EnoughRuns, beyond: true}
	c := &course{}
	for i := range 20 {
		if err := c.record.add(taking(t, scenario.Default(), 10+float64(i%2)), 1); err != nil {
			t.Fatal(err)
		}
		if i == 3 && !math.IsInf(s.uncertainty(c), 1) {
			t.Errorf("four runs: %v", s.uncertainty(c))
		}
	}
	if got := s.uncertainty(c); math.Abs(got-1/10.5/math.Sqrt(20)) > 1e-3 {
		t.Errorf("twenty runs of 10 and 11 ms: %v", got)
	}
}
