// Package chaos kills emitters, brokers and jobs while millions of numbered events pass through.
package chaos

import (
	"math/rand"
	"sync"
	"testing"
	"time"

	"lifeline/tests/harness"
)

// scale is the number of kills and events; `make test` uses -short.
type scale struct {
	events       int // of the emitter that lives through it all
	perSecond    int
	jobKills     int
	emitterKills int
}

var (
	full  = scale{events: 5_000_000, perSecond: 100_000, jobKills: 10, emitterKills: 50}
	short = scale{events: 800_000, perSecond: 80_000, jobKills: 2, emitterKills: 6}
)

// Emitters that are killed: most of them block when their rings are full, so they lose nothing; every fifth one floods
// a small budget and drops, and its books must balance all the same.
const (
	victimRate   = 150_000
	floodEvery   = 5
	floodEvents  = 1_000_000 // many times what the budget holds, however late its process came to run
	survivor     = 0         // the run number of the emitter that nobody kills
	settleWithin = 5 * time.Minute
)

func TestEveryEventIsArchivedExactlyOnceWhileJobsBrokerAndEmittersAreKilled(t *testing.T) {
	harness.System(t)
	t.Parallel() // with what waits as much as this does
	size := full
	if testing.Short() {
		size = short
	}
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) { killEverything(t, kind, size) })
	}
}

func killEverything(t *testing.T, kind string, size scale) {
	broker := harness.StartBroker(t, kind)
	broker.SetUp(t)
	jobs := harness.StartJobs(t, broker, "ledger")
	stage := &stage{t: t, began: time.Now(), broker: broker, jobs: jobs, rings: harness.MemoryDir(t), sides: t.TempDir()}

	steady := stage.startEmitter(survivor, size.events, size.perSecond)
	var meanwhile sync.WaitGroup
	for _, attack := range []func(){
		func() { stage.killJobs(size.jobKills) },
		func() { stage.killEmitters(size.emitterKills) },
		func() { stage.killBrokerOnce(steady, int64(size.events/4)) },
	} {
		meanwhile.Add(1)
		// A Fatalf in one of these ends its goroutine and fails the test, which the last lines below then notice.
		go func() { defer meanwhile.Done(); attack() }()
	}
	meanwhile.Wait()
	if t.Failed() {
		return
	}
	if code := steady.Wait(t, 5*time.Minute); code != 0 {
		t.Fatalf("the surviving emitter exited with %d: %s", code, steady.Stderr())
	}
	t.Logf("%.0f s: the surviving emitter ended: %s%s", stage.seconds(), steady.Stdout(), steady.Stderr())
	stage.recover(true)
	t.Logf("%.0f s: all is recovered", stage.seconds())
	sum := stage.verify()
	sum.kills, sum.outages = int64(size.jobKills+size.emitterKills), 1
	enter(sum)
	t.Logf("%.0f s: verified", stage.seconds())
	stage.loseTail()
}

// stage is the environment of one run.
type stage struct {
	t            *testing.T
	began        time.Time
	broker       *harness.Broker
	jobs         *harness.Jobs
	rings, sides string

	lock     sync.Mutex
	emitters []*harness.SerialEmitter
}

func (s *stage) seconds() float64 { return time.Since(s.began).Seconds() }

func (s *stage) startEmitter(run, events, rate int, settings ...string) *harness.SerialEmitter {
	s.t.Helper()
	all := append(s.broker.Settings(), "LIFELINE_RING_DIR="+s.rings, "LIFELINE_POLICY=block",
		"LIFELINE_BLOCK_TIMEOUT_MS=120000", "LIFELINE_FLUSH_TIMEOUT_MS=60000", "LIFELINE_INTERVAL_MS=200")
	emitter := harness.StartSerialEmitter(s.t, append(all, settings...), s.sides, run, events, rate)
	s.lock.Lock()
	s.emitters = append(s.emitters, emitter)
	s.lock.Unlock()
	return emitter
}

func (s *stage) killJobs(times int) {
	for range times {
		sleepBetween(500*time.Millisecond, 2*time.Second)
		s.jobs.Kill()
		s.jobs.Restart(s.t)
	}
	s.t.Logf("%.0f s: jobs killed %d times", s.seconds(), times)
}

func (s *stage) killEmitters(times int) {
	for run := survivor + 1; run <= survivor+times; run++ {
		var emitter *harness.SerialEmitter
		if run%floodEvery == 0 {
			emitter = s.startEmitter(run, 1<<40, 0, "LIFELINE_POLICY=drop-newest", "LIFELINE_BUDGET_BYTES=2097152")
			s.waitForReturned(emitter, floodEvents)
			sleepBetween(0, 40*time.Millisecond)
		} else {
			emitter = s.startEmitter(run, 1<<40, victimRate)
			sleepBetween(50*time.Millisecond, 500*time.Millisecond)
		}
		emitter.Kill()
		s.recover(false)
	}
	s.t.Logf("%.0f s: emitters killed %d times", s.seconds(), times)
}

// waitForReturned waits until so many of an emitter's events are emitted or dropped.
func (s *stage) waitForReturned(emitter *harness.SerialEmitter, events int64) {
	for deadline := time.Now().Add(settleWithin); ; time.Sleep(time.Millisecond) {
		counts := emitter.Returned(s.t)
		if counts[0]+counts[1] >= events {
			return
		}
		if !emitter.Running() || time.Now().After(deadline) {
			s.t.Fatalf("run %d came to %v events only: %s", emitter.Run, counts, emitter.Stderr())
		}
	}
}

// killBrokerOnce kills the broker when the emitter has reached this number of events.
func (s *stage) killBrokerOnce(steady *harness.SerialEmitter, events int64) {
	s.waitForReturned(steady, events)
	s.broker.Kill(s.t)
	time.Sleep(time.Second)
	s.broker.Restart(s.t)
	s.t.Logf("%.0f s: broker killed and restarted", s.seconds())
}

// recover sends the events of killed emitters. It may fail while the broker is down: the files stay.
func (s *stage) recover(must bool) {
	s.t.Helper()
	recovery := harness.Start(s.t, s.broker.Settings(), harness.Program(s.t, "lifeline-recover"), "--ring-dir", s.rings)
	if code := recovery.Wait(s.t, 2*time.Minute); code != 0 && must {
		s.t.Fatalf("lifeline-recover exited with %d\n%s%s", code, recovery.Stdout(), recovery.Stderr())
	}
}

func sleepBetween(least, most time.Duration) {
	time.Sleep(least + time.Duration(rand.Int63n(int64(most-least))))
}
