package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/format"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

// conclude computes the result.
func (r *runner) conclude() {
	c := r.result.Counts
	r.result.Times = r.totals.Result()
	if messages := float64(c.Sent); messages > 0 {
		r.result.Bytes.PerMessage /= messages
		r.result.Bytes.PerEvent = r.result.Bytes.PerMessage / float64(max(1, r.scenario.Message.Events))
	}
	origin := r.origin()
	if r.result.Stalls = r.allStalls(origin); r.result.Stalls.Count == 0 {
		r.result.Times.RTTWithoutStalls, r.result.Times.ServiceTimeWithoutStalls = result.Distribution{}, result.Distribution{}
	}
	if origin != 0 {
		r.result.Origin = time.Now().Add(time.Duration(origin - clock.Now())).UTC()
	}
	for _, trip := range r.slowest {
		r.result.Slowest = append(r.result.Slowest, result.Trip{
			Generator: trip.Generator, Sequence: trip.Sequence, At: float64(trip.Intended-origin) / 1e9, RTT: trip.RTT,
			Service: trip.Service,
		})
	}
	for _, m := range r.missing {
		r.result.Missing = append(r.result.Missing, result.Missing{
			Generator: m.Generator, Sequence: m.Sequence, At: float64(m.Sent-origin) / 1e9, Kind: m.Kind,
		})
	}
	r.result.Timeline = r.timeline()
	meant := schedule{interval: int64(r.scenario.Interval.Duration) / generator.Tick, end: r.end / generator.Tick}
	for _, happened := range r.happened {
		r.result.Faults = append(r.result.Faults, r.history.outage(happened.fault, happened.at, r.origin(), meant))
	}
	r.result.Goals = r.goals()
	r.balance()
	verify(&r.result, r.judge())
}

// verify finds why a result's times or counts are not to be trusted; gauges are the machines' reasons.
func verify(r *result.Result, gauges []string) {
	incomplete, disputed := unsent(r.Counts), disagreement(r.Broker)
	r.Invalid = slices.Concat(gauges, incomplete, disputed)
	if len(r.Scenario.Faults) == 0 { // a planned fault explains both
		r.Disputed = slices.Concat(incomplete, disputed)
	}
	if r.Times.RTT.Count == 0 {
		r.Invalid = append(r.Invalid, "no round trip was measured")
	}
	r.Valid = len(r.Invalid) == 0
}

// disagreement returns why the counts are not to be trusted if the broker has others.
func disagreement(broker result.BrokerCounters) []string {
	if broker.Verdict() != "differ" {
		return nil
	}
	return []string{"the broker's counters differ from the fleet's: " + broker.Sentence}
}

// maxUnsent is half of the share of messages that p99.8 leaves out: with more unsent, it may be another message's.
const maxUnsent = 0.001

// unsent returns why the times are invalid if messages that were due are not among them.
func unsent(c result.Counts) []string {
	missing, due := c.Unsent()+c.Refused, c.Sent+c.Unsent()
	if float64(missing) <= maxUnsent*float64(due) {
		return nil
	}
	return []string{fmt.Sprintf("%s of %s could not be published (%s failed, %s because their generator was busy, %s refused by the "+
		"broker): the times are those of the others (limit %s)", format.Count(missing), format.Some(due, "message"),
		format.Count(c.Failed), format.Count(c.Skipped), format.Count(c.Refused), format.Percent(maxUnsent))}
}

// count reads the broker's own counters.
func (r *runner) count() (result.Counters, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTimeout)
	defer cancel()
	return r.cluster.Counters(ctx, r.target.Run)
}

func (r *runner) balance() {
	counters := &r.result.Broker
	after, err := r.count()
	if err != nil {
		counters.Sentence = "they could not be read at the end: " + err.Error()
		return
	}
	counters.After = after
	counters.Compared, counters.Agree, counters.Sentence = agreement(r.scenario, counters.Before, after, r.result.Counts)
}

// goals are the objectives' results; none if the run ended before measuring, or a worker did not report its losses.
func (r *runner) goals() []result.Goal {
	if r.finals < r.workers {
		return nil
	}
	if r.result.Partial && r.totals.RTT.Count() == 0 && r.result.Counts.Lost == 0 {
		return nil
	}
	return goals(r.scenario, r.result.Counts, &r.totals.RTT)
}

func goals(s scenario.Scenario, c result.Counts, rtt *measure.Recorder) (all []result.Goal) {
	for _, objective := range s.Objectives {
		all = append(all, goal(objective, s.Subscribers.Count, c, rtt))
	}
	return all
}

// goal judges an objective over all messages that were measured, lost, or could not be published in the first place.
func goal(objective scenario.Objective, subscribers int, c result.Counts, rtt *measure.Recorder) result.Goal {
	g := result.Goal{Objective: objective, Met: true}
	if objective.MaxLost != nil {
		g.Met = c.Lost <= *objective.MaxLost
	}
	if objective.Share > 0 {
		unpublished := (c.Failed + c.Skipped) * uint64(subscribers)
		all := rtt.Count() + int64(c.Lost+unpublished)
		if all > 0 {
			g.Share = float64(rtt.AtMost(int64(objective.Within.Duration))) / float64(all)
		}
		g.Met = g.Met && g.Share >= objective.Share
	}
	return g
}

// missed is the failure of the objectives that were not met, nil when all were.
func missed(goals []result.Goal) *result.Failure {
	count := 0
	for _, goal := range goals {
		if !goal.Met {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return &result.Failure{Cause: result.Objective, Message: fmt.Sprintf("%d of %d objectives were missed", count, len(goals))}
}

// counts sums all workers, using the last progress of one that failed.
func (r *runner) counts() result.Counts {
	var all result.Counts
	for _, p := range r.progress {
		add(&all, p.Counts)
	}
	return all
}

func add(to *result.Counts, from result.Counts) {
	to.Connections += from.Connections
	to.Sent += from.Sent
	to.Failed += from.Failed
	to.Acknowledged += from.Acknowledged
	to.Refused += from.Refused
	to.Received += from.Received
	to.Lost += from.Lost
	to.Unacknowledged += from.Unacknowledged
	to.LostAcknowledged += from.LostAcknowledged
	to.Undelivered += from.Undelivered
	to.Away += from.Away
	to.Unclear += from.Unclear
	to.Duplicated += from.Duplicated
	to.Reordered += from.Reordered
	to.Late += from.Late
	to.Unselected += from.Unselected
	to.Foreign += from.Foreign
	to.Skipped += from.Skipped
}
