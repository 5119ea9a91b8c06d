package study

import (
	"fmt"
	"path/filepath"
	"time"

	"lifeline/loadgen/host"
	"lifeline/loadgen/scenario"
)

// resumable is how long after its measurement a point is still part of the same study: the full form takes hours, and may be
// spread over some days.
const resumable = 7 * 24 * time.Hour

// standing reports whether what was measured of a point stays, and why; where a longer measurement goes, it says so too.
func standing(options Options, p planned) (keep bool, why string) {
	old, err := readRecord(filepath.Join(options.Out, DataFolder, p.ID+".json"))
	if err != nil {
		return false, ""
	}
	here, longer := old.Machine == host.Machine(), old.longer(p.scenario)
	of := fmt.Sprintf("%s, of %s", old.Form, old.Started.UTC().Format(time.DateOnly))
	switch {
	case longer && options.Again:
		return false, "replaces what was measured for longer (" + of + ")"
	case longer && !here:
		return false, "replaces what was measured for longer on another machine (" + of + ")"
	case longer:
		return true, "kept, since it was measured for longer (" + of + "); --again measures it anew"
	case options.Resume && here && old.resumes(p):
		return true, "kept (" + of + ")"
	}
	return false, ""
}

// longer reports whether the record is the same point, measured for longer than the scenario would: the two differ in nothing but
// times. One that failed says nothing about the broker, however long it took.
func (r Record) longer(s scenario.Scenario) bool {
	if r.Scenario.Duration.Duration <= s.Duration.Duration || r.Partial || r.Broke() || !r.measured() {
		return false
	}
	timed := &r.Scenario
	timed.Interval, timed.Ramp, timed.InitialSleep = s.Interval, s.Ramp, s.InitialSleep
	timed.WarmUp, timed.Duration, timed.Drain, timed.Faults = s.WarmUp, s.Duration, s.Drain, s.Faults
	return r.sameScenario(s)
}

// resumes reports whether the record may stand for the point in a study that goes on: the same scenario in the same form within
// the last week, no failure but an expected one, times to trust.
func (r Record) resumes(p planned) bool {
	if r.Partial || r.Form != p.form || !r.sameScenario(p.scenario) || time.Since(r.Started) > resumable {
		return false
	}
	return r.Valid && !r.Broke() || p.Refused && r.refusal()
}
