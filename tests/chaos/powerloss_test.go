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
	// On Kafka they have other partitions, or some of their batches are in lost places: of one emitter perhaps all.
	least := map[string]int64{"nats": afterLoss * lossEvents, "kafka": 1}[s.broker.Kind]
	for _, row := range s.waitForArchived(after, afterLoss, least) {
		if row.Int("run") >= int64(before) && row.Int("emitted") != row.Int("archived")+row.Int("missing") {
			s.t.Errorf("wrong books: run %d: the ledger says %v", row.Int("run"), row)
		}
		if row.Int("run") >= int64(after) && s.broker.Kind == "nats" && row.Int("archived") != lossEvents {
			s.t.Errorf("wrong books: run %d: %d of %d events are archived", row.Int("run"), row.Int("archived"), lossEvents)
		}
	}
	s.expectArchived(before, lossEvents)
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

// expectArchived fails unless the archive comes to have exactly these events of a run.
func (s *stage) expectArchived(run int, events int64) {
	var have, serials int64
	for _, row := range s.waitForArchived(run, 1, events) {
		if row.Int("run") == int64(run) {
			have += row.Int("events")
			serials += row.Int("serials")
		}
	}
	if have != events || serials != events {
		s.t.Fatalf("wrong books: run %d: %d events with %d serials are archived, %d were emitted\n%s", run, have, serials, events, s.jobs.Stderr())
	}
}

// waitForArchived waits until the archive has at least that many events of these runs. Jobs that were killed and begun again may
// be quiet for long before they go on.
func (s *stage) waitForArchived(firstRun, number int, least int64) []harness.Row {
	var have int64
	for deadline := time.Now().Add(settleWithin); ; s.waitUntilQuiet(deadline) {
		rows := harness.Query(s.t, s.jobs.Archive, archivedSQL)
		have = 0
		for _, row := range rows {
			if run := row.Int("run"); int64(firstRun) <= run && run < int64(firstRun+number) {
				have += row.Int("events")
			}
		}
		if have >= least {
			return rows
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("wrong books: %d events of runs %d to %d are archived, not %d\n%s", have, firstRun, firstRun+number-1, least,
				s.jobs.Stderr())
		}
	}
}
