package study

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

func TestAStudyThatIsResumedKeepsWhatWasMeasuredWell(t *testing.T) {
	out := t.TempDir()
	var ran []string
	options := Options{Out: out, Resume: true, Only: []string{"table2-nats", "table2-nats-tls", "table2-mqtt-qos0", "single-nats-25000"},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
			ran = append(ran, s.Name)
			r := found(s)
			switch s.Name {
			case "table2-nats-tls":
				r.Valid = false
			case "table2-mqtt-qos0":
				r.Failure = &result.Failure{Cause: result.BrokerExit}
			case "single-nats-25000":
				r.Valid, r.Failure = false, &result.Failure{Cause: result.Descriptors, Message: "too many"}
			}
			return r, nil
		})}
	if _, err := measuring(t, t.Context(), options); err != nil {
		t.Fatal(err)
	}
	ran = nil
	if _, err := measuring(t, t.Context(), options); err != nil {
		t.Fatal(err)
	}
	if want := []string{"table2-nats-tls", "table2-mqtt-qos0"}; !slices.Equal(ran, want) {
		t.Errorf("measured again %v, not %v", ran, want)
	}
}

func TestAPointOfAnotherWeekOrMachineIsMeasuredAgainAndOneOfSomeDaysAgoIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Measured)
		runs   int
	}{
		"some days ago":   {func(m *Measured) { m.Started = m.Started.Add(-resumable + time.Hour) }, 1},
		"another week":    {func(m *Measured) { m.Started = m.Started.Add(-resumable - time.Hour) }, 2},
		"another machine": {func(m *Measured) { m.Machine.CPU = "another" }, 2},
	} {
		out := t.TempDir()
		runs := 0
		options := Options{Out: out, Resume: true, Only: []string{"table2-nats"},
			Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
				runs++
				m := found(s)
				c.change(&m)
				return m, nil
			})}
		for range 2 {
			if _, err := measuring(t, t.Context(), options); err != nil {
				t.Fatal(err)
			}
		}
		if runs != c.runs {
			t.Errorf("%s: measured %d times, not %d", name, runs, c.runs)
		}
	}
}

func TestAShorterMeasurementDoesNotReplaceALongerOneUnlessAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Record) // of what the full form left
		again  bool
		runs   int
		says   string
	}{
		{name: "as it is", says: "kept, since it was measured for longer (full, 5m, of "},
		{name: "of last year", change: func(r *Record) { r.Started = r.Started.AddDate(-1, 0, 0) }, says: "; --again measures it anew"},
		{name: "not quiet", change: func(r *Record) { r.Valid = false }, says: "kept"},
		{name: "asked", again: true, runs: 1, says: "replaces what was measured for longer (full, 5m, of "},
		{name: "failed", change: func(r *Record) { r.Failure = &result.Failure{Cause: result.BrokerExit} }, runs: 1},
		{name: "of another machine", change: func(r *Record) { r.Machine.CPU = "another" }, runs: 1, says: "for longer on another machine"},
		{name: "of another fleet", change: func(r *Record) { r.Scenario.Generators++ }, runs: 1},
	} {
		out := t.TempDir()
		full, err := Full(5 * time.Minute).plan()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(full, func(p planned) bool { return p.ID == "table2-nats" })
		before := Record{Point: "table2-nats", Form: "full, 5m", Measured: found(full[at].scenario)}
		if c.change != nil {
			c.change(&before)
		}
		folder := filepath.Join(out, DataFolder)
		if err := before.write(folder); err != nil {
			t.Fatal(err)
		}
		runs := 0
		log, err := measuring(t, t.Context(), Options{Out: out, Again: c.again, Only: []string{"table2-nats"},
			Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) {
				runs++
				return found(s), nil
			})})
		after, readErr := readRecord(filepath.Join(folder, "table2-nats.json"))
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		if form := map[int]string{0: "full, 5m", 1: "quick"}[c.runs]; runs != c.runs || after.Form != form || !strings.Contains(log, c.says) {
			t.Errorf("%s: %d runs, the file is of form %s\n%s", c.name, runs, after.Form, log)
		}
	}
}

func TestTheFullFormReplacesWhatTheQuickOneMeasured(t *testing.T) {
	out := t.TempDir()
	options := Options{Out: out, Resume: true, Only: []string{"table2-nats", "faults-jetstream", "single-nats-19800"}, Log: &strings.Builder{},
		Runners: only(func(_ context.Context, s scenario.Scenario) (Measured, error) { return found(s), nil })}
	for _, form := range []Form{Quick(), Full(5 * time.Minute), Quick()} {
		options.Form = form
		if err := Measure(t.Context(), options); err != nil {
			t.Fatal(err)
		}
	}
	for id, form := range map[string]string{
		"table2-nats": "full, 5m", "faults-jetstream": "full, 2m", "single-nats-19800": "full, 5m", // faults have times of their own
	} {
		if r, err := readRecord(filepath.Join(out, DataFolder, id+".json")); err != nil || r.Form != form {
			t.Errorf("%s is of form %s, not %s: %v", id, r.Form, form, err)
		}
	}
}
