package run

import (
	"context"
	"fmt"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// conduct leads the workers through the run.
func (r *runner) conduct(ctx context.Context) *result.Failure {
	r.progress = make([]generator.Progress, r.plan.Workers)
	for number := range r.plan.Workers {
		if err := r.crew.order(number, worker.Order{Job: r.job(number)}); err != nil {
			return refused("giving out the work", err)
		}
	}
	faults := r.faults()
	defer faults.end()
	var failure *result.Failure
	ready, connected := 0, 0
	watched := silence{}
	cancelled, exited := ctx.Done(), r.cluster.Exited()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	r.turn = time.NewTimer(time.Hour) // until a span is known
	defer r.turn.Stop()
	for r.finals < r.plan.Workers {
		select {
		case <-cancelled:
			cancelled = nil
			r.result.Partial = true
			if ready < r.plan.Workers {
				return nil // nothing has been sent
			}
			faults.cancel()
			r.cut(r.scenario.Drain.Duration)
		case <-exited:
			exited = nil
			failure = &result.Failure{Cause: result.BrokerExit, Message: r.cluster.Err().Error()}
			if ready < r.plan.Workers {
				return failure
			}
			r.cut(0) // ends the run early: workers report what was lost
		case <-r.turn.C:
			r.gauge()
		case happened := <-faults.begun:
			r.happened = append(r.happened, happened)
		case err := <-faults.failed:
			return &result.Failure{Cause: result.BrokerExit, Message: err.Error()}
		case <-ticker.C:
			r.show()
			r.tellStalls()
			if number, silent := watched.second(); silent {
				return r.crew.death(number, fmt.Errorf("it has said nothing for %d s", silenceLimit))
			}
		case said := <-r.crew.reports:
			switch report := said.report; {
			case said.err != nil:
				return r.crew.death(said.member, said.err)
			case report.Failure != nil:
				return r.deeper(report.Failure)
			case report.Ready:
				if ready++; ready == r.plan.Workers {
					r.watch.Base()
					var err error
					// messages that check subscriptions are not the fleet's
					if r.result.Broker.Before, err = r.count(); err != nil {
						return r.deeper(refused("reading the broker's counters", err))
					}
					r.enter("connecting")
					r.orderAll(worker.Order{Connect: true})
				}
			case report.Closed != 0:
				r.tellStallsUntil(report.Closed)
			case report.Connected:
				if connected++; connected == r.plan.Workers && r.end == 0 {
					r.measure(faults)
				}
			}
			watched.heard(said.member)
			if p := said.report.Progress; p != nil {
				r.note(said.member, *p)
			}
			if final := said.report.Final; final != nil {
				r.finish(said.member, *final)
				watched.done(said.member)
			}
		}
	}
	return failure
}

// deeper returns a broker exit as the cause of a failure: connections break before the exit is noticed.
func (r *runner) deeper(failure *result.Failure) *result.Failure {
	select {
	case <-r.cluster.Exited():
		return &result.Failure{Cause: result.BrokerExit, Message: fmt.Sprintf("%v; %s", r.cluster.Err(), failure.Message)}
	case <-time.After(time.Second):
		return failure
	}
}

func (r *runner) orderAll(order worker.Order) {
	_ = r.crew.orderAll(order) // a worker that is gone ends the run by the end of its reports
}

// measure fixes the measured span, now that all are connected.
func (r *runner) measure(faults *faults) {
	const notice = 50 * time.Millisecond // for the order to arrive
	s := r.scenario
	begin := clock.Now() + int64(notice+s.InitialSleep.To.Duration+s.WarmUp.Duration)
	r.span(begin, begin+int64(s.Duration.Duration), s.Drain.Duration)
	faults.begin(begin)
	r.enter("warming up")
}

// cut ends the measured span now. If it has not begun, nothing is measured.
func (r *runner) cut(drain time.Duration) {
	begin := clock.Now()
	end := begin
	if r.end != 0 {
		begin, end = min(begin, r.begin), min(end, r.end)
	}
	r.span(begin, end, drain)
}

func (r *runner) span(begin, end int64, drain time.Duration) {
	r.begin, r.end = begin, end
	r.turn.Reset(time.Duration(begin - clock.Now()))
	if r.options.Span != nil {
		r.options.Span(begin, end)
	}
	r.orderAll(worker.Order{Measure: &worker.Span{Begin: begin, End: end, Drain: drain}})
}

// gauge watches the machine during the span. A span cut before its begin keeps the earlier gauges.
func (r *runner) gauge() {
	now := clock.Now()
	if !r.gauging && r.begin < r.end {
		r.gauging = true
		r.watch.Measure()
	}
	if now >= r.end {
		r.watch.Rest()
		return
	}
	r.turn.Reset(time.Duration(r.end - now))
}

func (r *runner) finish(number int, final worker.Final) {
	r.finals++
	r.progress[number].Counts = final.Totals.Counts
	r.totals.Merge(&final.Totals.Times)
	r.slowest.Merge(final.Totals.Slowest)
	r.missing = generator.MergeMissing(r.missing, final.Totals.Missing)
	r.result.Bytes.PerMessage += float64(final.Totals.Bytes) // of all; divided at the end
	r.history.add(final.Totals.Ticks)
	for _, text := range []string{final.Trouble, final.Untidy} {
		if text != "" && len(r.result.Remarks) < 10 {
			r.result.Remarks = append(r.result.Remarks, text)
		}
	}
}
