package study

import (
	"reflect"
	"slices"
	"time"

	"lifeline/loadgen/result"
)

// Run is the summary of one run of a point: what a result has of it, without histograms, and without what is the same in all runs.
type Run struct {
	Seed      uint64           `json:"seed,omitempty"` // of the order in which the study took its points
	Started   time.Time        `json:"started"`
	Elapsed   time.Duration    `json:"elapsed_ns"`
	Valid     bool             `json:"valid"`
	Invalid   []string         `json:"invalid,omitempty"`
	Failure   *result.Failure  `json:"failure,omitempty"`
	Counts    result.Counts    `json:"counts"`
	Times     result.Times     `json:"times"`
	Resources result.Resources `json:"resources"`
	Noise     result.Noise     `json:"noise"`
	Faults    []result.Outage  `json:"faults,omitempty"`

	Beside map[string]result.Distribution `json:"beside,omitempty"`
}

// headlines are the percentiles that runs keep of times that tables sum up; of RTT and service time they keep all.
var headlines = []float64{50, 99, 99.8, 100}

func runOf(m Measured) Run {
	r := Run{Started: m.Started, Elapsed: m.Elapsed, Valid: m.Valid, Invalid: m.Invalid, Failure: m.Failure, Counts: m.Counts,
		Times: m.Times, Resources: m.Resources, Noise: m.Noise, Faults: m.Faults}
	r.Noise.Busiest = nil // records are published; the names of other programs on the machine are private
	for _, d := range distributions(&r.Times) {
		d.Histogram, d.Negatives = "", ""
		if d != &r.Times.RTT && d != &r.Times.ServiceTime {
			d.Percentiles = kept(d.Percentiles)
		}
	}
	for name, d := range m.Beside {
		if r.Beside == nil {
			r.Beside = map[string]result.Distribution{}
		}
		d.Histogram, d.Negatives, d.Percentiles = "", "", kept(d.Percentiles)
		r.Beside[name] = d
	}
	return r
}

// kept are those of the percentiles that are headlines.
func kept(all []result.Percentile) []result.Percentile {
	var some []result.Percentile
	for _, each := range all {
		if slices.Contains(headlines, each.Percent) {
			some = append(some, each)
		}
	}
	return some
}

// distributions are all times of t, whichever it has.
func distributions(t *result.Times) []*result.Distribution { return fields[result.Distribution](t) }

// fields are the fields of a structure that have one type, so that none is forgotten when there are more.
func fields[T any](of any) []*T {
	var all []*T
	structure := reflect.ValueOf(of).Elem()
	for i := range structure.NumField() {
		if field, ok := structure.Field(i).Addr().Interface().(*T); ok {
			all = append(all, field)
		}
	}
	return all
}

func (r Run) broke() bool { return result.Result{Failure: r.Failure}.Broke() }

// timed reports whether the run got to its end and has times.
func (r Run) timed() bool { return r.Times.RTT.Count > 0 && !r.broke() }

// trusted reports whether nothing disturbed the run's times.
func (r Run) trusted() bool { return r.Valid && r.timed() }

// used are the runs whose times count: those that nothing disturbed, or, where there is none, all that have times.
func (r Record) used() []Run {
	for _, counts := range []func(Run) bool{Run.trusted, Run.timed} {
		if slices.ContainsFunc(r.Runs, counts) {
			return slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool { return !counts(run) })
		}
	}
	return nil
}
