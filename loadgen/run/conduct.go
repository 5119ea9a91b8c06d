package run

import (
	"context"
	"fmt"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/crew"
	"lifeline/loadgen/generator"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// conduct leads the workers through the run.
func (r *runner) conduct(ctx context.Context) *result.Failure {
	r.progress = make([]generator.Progress, r.workers)
	for number := range r.workers {
		if err := r.order(number, worker.Order{Job: r.job(number)}); err != nil {
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
	for r.finals < r.workers {
		select {
		case <-cancelled:
			cancelled = nil
			r.result.Partial = true
			if ready < r.workers {
				return nil // nothing has been sent
			}
			faults.cancel()
			r.cut(r.scenario.Drain.Duration)
		case <-exited:
			exited = nil
			failure = &result.Failure{Cause: result.BrokerExit, Message: r.cluster.Err().Error()}
			if ready < r.workers {
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
			for _, p := range r.posts {
				r.tellStalls(p)
			}
			if number, silent := watched.second(); silent {
				return r.death(crew.Said{Member: number, Err: fmt.Errorf("it has said nothing for %d s", silenceLimit)})
			}
		case said := <-r.reports:
			switch report := said.Report; {
			case said.Err != nil:
				return r.death(said)
			case report.Failure != nil:
				report.Failure.Message = r.postOf(said.Member).prefix() + report.Failure.Message
				return r.deeper(report.Failure)
			case report.Ready:
				if ready++; ready == r.workers {
					r.atAll(func(p *post) { p.Base() })
					var err error
					// messages that check subscriptions are not the fleet's
					if r.result.Broker.Before, err = r.count(); err != nil {
						return r.deeper(refused("reading the broker's counters", err))
					}
					r.enter("connecting")
					r.orderAll(worker.Order{Connect: true})
				}
			case report.Closed != 0:
				r.tellStallsUntil(r.postOf(said.Member), report.Closed)
			case report.Connected:
				if connected++; connected == r.workers && r.end == 0 {
					if late := r.measure(faults); late != nil {
						return late
					}
				}
			}
			watched.heard(said.Member)
			if p := said.Report.Progress; p != nil {
				r.note(said.Member, *p)
			}
			if final := said.Report.Final; final != nil {
				r.finish(said.Member, *final)
				watched.done(said.Member)
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

// measure fixes the measured span, now that all are connected.
func (r *runner) measure(faults *faults) *result.Failure {
	const notice = 50 * time.Millisecond // for the order to arrive
	s := r.scenario
	begin := clock.Now() + int64(notice+s.InitialSleep.To.Duration+s.WarmUp.Duration)
	if at := r.options.StartAt; !at.IsZero() {
		meant := clock.Now() + int64(time.Until(at))
		if meant < begin {
			return &result.Failure{Cause: result.SetUp, Message: fmt.Sprintf("the measured span cannot begin at %s: all generators have "+
				"connected, slept and warmed up %v later; choose a later time", at.Format(time.RFC3339), time.Duration(begin-meant))}
		}
		begin = meant
	}
	r.span(begin, begin+int64(s.Duration.Duration), s.Drain.Duration)
	faults.begin(begin)
	r.enter("warming up")
	return nil
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
		r.atAll(func(p *post) { p.Measure() })
	}
	if now >= r.end {
		r.atAll(func(p *post) { p.Rest() })
		return
	}
	r.turn.Reset(time.Duration(r.end - now))
}

func (r *runner) finish(number int, final worker.Final) {
	r.finals++
	r.progress[number].Counts = final.Totals.Counts
	r.totals.Merge(&final.Totals.Times)
	if p := r.postOf(number); p.agent != nil {
		p.rtt.Merge(&final.Totals.Times.RTT)
		p.lateness.Merge(&final.Totals.Times.Lateness)
	}
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
