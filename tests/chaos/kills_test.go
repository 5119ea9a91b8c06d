package chaos

import (
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lifeline/tests/harness"
)

// A point of emitter/src/base/crash_point.h, and what an emitter needs to get there.
type point struct {
	name     string
	settings []string
	events   int  // that it emits
	first    bool // at its first passing
	away     bool // the sink is
	full     bool // and so is the spool
}

var (
	away      = []string{"LIFELINE_BUDGET_BYTES=2097152"}
	spoolFull = append(away, "LIFELINE_SPOOL_BYTES=2097152", "LIFELINE_COMPRESSION=none")
	points    = []point{
		{name: "sealed-unfreed", events: endless},
		{name: "sealed-unsent", events: endless},
		{name: "sent-unacknowledged", events: endless},
		{name: "acknowledged-unfreed", events: endless},
		{name: "spooled-unfreed", events: endless, away: true, settings: away},
		{name: "giving-up-announced", events: endless, away: true, full: true, settings: spoolFull},
		{name: "given-up-uncounted", events: endless, away: true, full: true, settings: spoolFull},
		{name: "finished-unremoved", events: 20_000, first: true},
	}
)

const (
	hunters       = 4 // emitters that run and die beside each other, each with a ring directory of its own
	killRate      = 150_000
	endless       = 1 << 40
	pointReached  = 2 * time.Minute
	killedBySelf  = 128 + 9
	progressEvery = 100
	mostRounds    = 10 // of kills at random: what is left behind for the last recoveries to find is a matter of luck
)

func TestEveryEventArrivesOnceWhileProcessesAreKilledAtAnyInstantAndBetweenTwoSteps(t *testing.T) {
	harness.System(t)
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			hunt := startHunt(t, kind)
			times := scaled(map[string]int{"nats": 1000, "kafka": 300}[kind], 30)
			for range mostRounds {
				hunt.kills(times, func(h *hunter, run int) { h.killAtRandom(run) })
				hunt.recover()
				if hunt.shows() {
					break
				}
			}
			hunt.begin()
			for _, where := range points {
				// Kafka's client takes batches before it has found a broker, and what it may have sent is never given up.
				if where.full && kind == "kafka" {
					continue
				}
				hunt.kills(scaled(map[string]int{"nats": 100, "kafka": 30}[kind], 4),
					func(h *hunter, run int) { h.dieAt(where, run) })
			}
			hunt.recover()
			hunt.settle()
		})
	}
}

// scaled is how often something is done in the long form and in the short one.
func scaled(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

// hunt is one broker, and emitters that are killed while they publish. The next emitter recovers their rings.
type hunt struct {
	t       *testing.T
	broker  *harness.Broker
	sides   string
	hunters [hunters]*hunter
	books   *books

	killed, runs atomic.Int64
	lock         sync.Mutex
	phases       []*phase
}

// phase is one way to kill, over all runs from the first to that of the next phase.
type phase struct {
	first   int
	figures tally // of the recoveries that lived to tell
}

type hunter struct {
	*hunt
	rings    string
	spool    string
	emitters []*harness.SerialEmitter
}

func startHunt(t *testing.T, kind string) *hunt {
	h := &hunt{t: t, broker: harness.StartBroker(t, kind), sides: t.TempDir(), books: newBooks(t)}
	h.broker.SetUp(t)
	for i := range h.hunters {
		h.hunters[i] = &hunter{hunt: h, rings: harness.MemoryDir(t), spool: harness.MemoryDir(t)}
	}
	h.begin()
	return h
}

func (h *hunt) begin() { h.phases = append(h.phases, &phase{first: int(h.runs.Load()) + 1}) }

func (h *hunt) figures() *tally { return &h.phases[len(h.phases)-1].figures }

// kills does one thing so many times, by all hunters at once.
func (h *hunt) kills(times int, kill func(h *hunter, run int)) {
	var left atomic.Int64
	left.Store(int64(times))
	var all sync.WaitGroup
	for _, one := range h.hunters {
		all.Add(1)
		go func() {
			defer all.Done()
			for left.Add(-1) >= 0 && !h.t.Failed() {
				run := int(h.runs.Add(1))
				kill(one, run)
				if run%progressEvery == 0 {
					h.t.Logf("%s: %d emitters started, %d processes killed", h.broker.Kind, run, h.killed.Load())
				}
			}
		}()
	}
	all.Wait()
}

func (h *hunter) settings(more ...string) []string {
	interval := 1 << rand.Intn(9) // ms: from batches of a few events to full ones
	return append(h.broker.Settings(), append([]string{"LIFELINE_RING_DIR=" + h.rings, "LIFELINE_SPOOL=" + h.spool,
		"LIFELINE_POLICY=block", "LIFELINE_BLOCK_TIMEOUT_MS=120000", "LIFELINE_FLUSH_TIMEOUT_MS=60000",
		fmt.Sprintf("LIFELINE_INTERVAL_MS=%d", interval)}, more...)...)
}

// nowhere is a URL of the broker's kind without a listener.
func (h *hunter) nowhere() string { return "LIFELINE_URL=" + h.broker.Kind + "://127.0.0.1:1" }

// killAtRandom kills an emitter, which may be recovering what the one before left; every third time a recovery clears
// the ground, and is killed too. Of five emitters one floods a small budget, so that it drops, and one finds no broker, so
// that it fills its spool.
func (h *hunter) killAtRandom(run int) {
	rate, settings := killRate, h.settings()
	switch run % 5 {
	case 0:
		rate, settings = 0, h.settings("LIFELINE_POLICY=drop-newest", "LIFELINE_BUDGET_BYTES=2097152")
	case 1:
		settings = h.settings(append(away, h.nowhere())...)
	}
	emitter := harness.StartSerialEmitter(h.t, settings, h.sides, run, endless, rate)
	h.emitters = append(h.emitters, emitter)
	sleepBetween(0, 150*time.Millisecond)
	h.kill(emitter.Process)
	if run%3 == 0 {
		recovery := harness.StartRecover(h.t, harness.Program(h.t, "lifeline-recover"), h.broker.Settings(), h.rings, h.spool)
		sleepBetween(0, 40*time.Millisecond)
		h.kill(recovery)
	}
}

func (h *hunter) kill(process *harness.Process) {
	process.Kill()
	h.killed.Add(1)
}

// dieAt kills an emitter at a crash point, and every third time the recovery after it as well.
func (h *hunter) dieAt(where point, run int) {
	settings, passing := h.settings(where.settings...), 1+rand.Intn(10)
	if where.first {
		passing = 1
	}
	if where.away {
		settings = append(settings, h.nowhere())
	}
	order := fmt.Sprintf("LIFELINE_CRASH_POINT=%s:%d", where.name, passing)
	emitter := harness.StartSerialEmitterOf(h.t, harness.CrashProgram(h.t, "serial-emitter"), append(settings, order), h.sides,
		run, where.events, killRate)
	h.emitters = append(h.emitters, emitter)
	if code := emitter.Wait(h.t, pointReached); code != killedBySelf {
		h.t.Errorf("the emitter did not die at %s, but ended with %d: %s", where.name, code, emitter.Stderr())
		return
	}
	h.killed.Add(1)
	if run%3 == 0 {
		recovery := harness.StartRecover(h.t, harness.CrashProgram(h.t, "lifeline-recover"), append(h.broker.Settings(),
			fmt.Sprintf("LIFELINE_CRASH_POINT=%s:%d", where.name, 1+rand.Intn(2))), h.rings, h.spool)
		if h.count(recovery) == killedBySelf {
			h.killed.Add(1)
		}
	}
}

// count adds a recovery's report to the figures, and returns its exit code.
func (h *hunt) count(recovery *harness.Process) int {
	did, code := harness.RecoveredBy(h.t, recovery)
	h.lock.Lock()
	defer h.lock.Unlock()
	h.figures().resent += did.BatchesResent
	h.figures().recovered += did.EventsNew
	return code
}

// shows is whether recoveries that lived to tell it both sealed what lay in rings and sent batches once more. (What
// emitters recover before they begin, and what a recovery did that was killed, nobody tells.)
func (h *hunt) shows() bool { return h.figures().recovered > 0 && h.figures().resent > 0 }

// recover delivers the events of killed emitters.
func (h *hunt) recover() {
	if h.t.Failed() {
		return
	}
	for _, one := range h.hunters {
		recovery := harness.StartRecover(h.t, harness.Program(h.t, "lifeline-recover"), h.broker.Settings(), one.rings, one.spool)
		if code := h.count(recovery); code != 0 {
			h.t.Fatalf("lifeline-recover exited with %d\n%s%s", code, recovery.Stdout(), recovery.Stderr())
		}
		harness.IsEmpty(h.t, one.rings)
		harness.IsEmpty(h.t, one.spool)
	}
}

// settle compares received with emitted events.
func (h *hunt) settle() {
	if h.t.Failed() {
		return
	}
	for _, one := range h.hunters {
		for _, emitter := range one.emitters {
			h.books.note(emitter)
		}
	}
	harness.ReadTopic(h.t, h.broker, h.books.enter)
	sum := h.books.close()
	sum.resent = 0
	for i, phase := range h.phases {
		last := int(h.runs.Load())
		if i+1 < len(h.phases) {
			last = h.phases[i+1].first - 1
		}
		var recovered, resent int64
		for run := phase.first; run <= last; run++ {
			if account := h.books.runs[run]; account != nil {
				recovered += account.recovered
				resent += account.resent
			}
		}
		resent = max(resent, phase.figures.resent)
		sum.resent += resent
		if recovered == 0 || resent == 0 {
			h.t.Errorf("runs %d to %d: nothing was recovered or nothing was sent again: the test does not show that it is", phase.first, last)
		}
	}
	sum.kills = h.killed.Load()
	h.t.Logf("%s: %s", h.broker.Kind, &sum)
	enter(sum)
}
