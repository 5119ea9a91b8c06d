package chaos

import (
	"regexp"
	"time"

	"lifeline/tests/harness"
)

const (
	lossEvents = 40_000
	lossRate   = 20_000 // so that each emitter has many batches
	afterLoss  = 3      // emitters: together they have more batches than the broker lost
)

// names what the operator has to do.
var refusal = regexp.MustCompile(`is not written any more: .*lifeline-jobs resume`)

// loseTail ends a run: the broker loses messages that it had acknowledged, as in a power failure, and stores others in their
// places. The jobs must not skip those silently.
func (s *stage) loseTail() {
	before := len(s.emitters)
	s.emitAll(before, 1)
	s.waitUntilQuiet(time.Now().Add(settleWithin))
	s.expectArchived(before, lossEvents)
	s.broker.Kill(s.t)
	s.broker.LoseTail(s.t)
	s.broker.Restart(s.t)
	replacing := before + 1
	s.emitAll(replacing, 1)
	s.waitForRefusal()
	s.jobs.Kill()
	s.jobs.Begin(s.t)
	s.waitForRefusal() // although the broker has grown past the archive's end by now
	s.jobs.Kill()
	harness.Run(s.t, settleWithin, nil, harness.Script("lifeline-jobs"), "resume", "--archive", s.jobs.Archive, "--accept-loss")
	s.jobs.Restart(s.t)
	after := before + 2
	s.emitAll(after, afterLoss)
	s.waitUntilQuiet(time.Now().Add(settleWithin))
	archived := map[int64]int64{}
	for _, row := range s.expectArchived(before, lossEvents) {
		archived[row.Int("run")] = row.Int("archived")
		if row.Int("run") >= int64(before) && row.Int("emitted") != row.Int("archived")+row.Int("missing") {
			s.t.Errorf("wrong books: run %d: the ledger says %v", row.Int("run"), row)
		}
	}
	// On Kafka they have other partitions, or some of their batches are in lost places: of one emitter perhaps all.
	var kept int64
	for run := after; run < after+afterLoss; run++ {
		kept += archived[int64(run)]
	}
	if kept == 0 || (kept < afterLoss*lossEvents && s.broker.Kind == "nats") {
		s.t.Errorf("wrong books: %d of %d events after the loss are archived", kept, afterLoss*lossEvents)
	}
	s.t.Logf("%.0f s: the broker lost its last messages, and the jobs said so", s.seconds())
}

// emitAll runs emitters side by side whose events the broker acknowledges.
func (s *stage) emitAll(firstRun, number int) {
	var emitters []*harness.SerialEmitter
	for run := firstRun; run < firstRun+number; run++ {
		emitters = append(emitters, s.startEmitter(run, lossEvents, lossRate))
	}
	for _, emitter := range emitters {
		if code := emitter.Wait(s.t, settleWithin); code != 0 {
			s.t.Fatalf("the emitter exited with %d: %s", code, emitter.Stderr())
		}
	}
}

func (s *stage) waitForRefusal() {
	for deadline := time.Now().Add(settleWithin); !refusal.MatchString(s.jobs.Stderr()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the jobs did not notice that messages were replaced: %s", s.jobs.Stderr())
		}
	}
}

// expectArchived fails unless the archive has exactly these events of a run.
func (s *stage) expectArchived(run int, events int64) []harness.Row {
	var have, serials int64
	rows := harness.Query(s.t, s.jobs.Archive, archivedSQL)
	for _, row := range rows {
		if row.Int("run") == int64(run) {
			have += row.Int("events")
			serials += row.Int("serials")
		}
	}
	if have != events || serials != events {
		s.t.Fatalf("wrong books: run %d: %d events with %d serials are archived, %d were emitted\n%s", run, have, serials, events, s.jobs.Stderr())
	}
	return rows
}
