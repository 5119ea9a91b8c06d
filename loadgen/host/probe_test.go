package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/systemtest"
)

const millisecond = int64(time.Millisecond)

func TestAStandstillMakesEveryWakeUpLateThatFellIntoIt(t *testing.T) {
	var p probe
	for range 60 {
		p.woke(p.due + millisecond/10)
	}
	if due := p.woke(p.due + 40*millisecond + 1); due != 60*probeInterval+40*millisecond+probeInterval {
		t.Errorf("after a standstill the next wake-up is due at %d", due)
	}
	if n, median := p.lateness.Count(), p.lateness.Percentile(60); n != 60+21 || median > millisecond {
		t.Errorf("%d wake-ups, most of them later than %d ns", n, median)
	}
	if half := p.lateness.Percentile(87); half < 18*millisecond || half > 22*millisecond {
		t.Errorf("the middle of the standstill was %d ns late", half)
	}
}

func TestAStallLastsFromTheLastWakeUpToTheNext(t *testing.T) {
	p := probe{due: probeInterval}
	on := func(at int64) { p.woke(at) }
	on(probeInterval)
	on(p.due + StallTime - 1) // late, and no stall
	seen := p.seen
	if stalls, until := p.take(seen + 1); stalls != nil || until != seen {
		t.Errorf("%v until %d", stalls, until)
	}
	begun := p.due + StallTime
	if stalls, until := p.take(begun); !slices.Equal(stalls, []clock.Interval{{From: seen, To: begun}}) || until != begun {
		t.Errorf("while it lasts: %v until %d", stalls, until)
	}
	end := begun + 5*StallTime
	on(end)
	if stalls, until := p.take(end); !slices.Equal(stalls, []clock.Interval{{From: seen, To: end}}) || until != end {
		t.Errorf("after it: %v until %d", stalls, until)
	}
	if stalls, _ := p.take(end); stalls != nil {
		t.Errorf("taken twice: %v", stalls)
	}
}

func TestAWakeUpThatIsOverdueCounts(t *testing.T) {
	p := probe{due: probeInterval}
	p.woke(p.due)
	if p998, longest := p.latest(p.due + 50*millisecond); p998 < 49*millisecond || longest != 50*millisecond {
		t.Errorf("%d, %d", p998, longest)
	}
	if _, longest := p.latest(p.due); longest != 0 {
		t.Errorf("a wake-up to come was %d late", longest)
	}
}

func TestEveryUsableCoreHasAProbeAndOneThatIsMovedIsReported(t *testing.T) {
	systemtest.Mark(t)
	var usable unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usable); err != nil {
		t.Fatal(err)
	}
	p := startProbes()
	defer p.end()
	var onEach unix.CPUSet
	for _, each := range p.all {
		onEach.Set(each.core)
		waitFor(t, "a wake-up", func() bool { _, longest := each.latest(0); return longest > 0 })
	}
	if onEach != usable {
		t.Errorf("probes on %v of the cores %v", onEach, usable)
	}
	if _, _, unseen := p.worst(); unseen != nil {
		t.Errorf("%q", unseen)
	}
	if len(p.all) < 2 {
		t.Skip("one core: a thread cannot be moved from it")
	}
	if err := unix.SchedSetaffinity(p.all[1].thread, &usable); err != nil {
		t.Fatal(err)
	}
	if _, _, unseen := p.worst(); len(unseen) != 1 || !strings.Contains(unseen[0], fmt.Sprintf("core %d: the thread was moved", p.all[1].core)) {
		t.Errorf("%q", unseen)
	}
}

func TestACoreThatIsKeptStandsStill(t *testing.T) {
	systemtest.Mark(t)
	p := startProbes()
	defer p.end()
	core, release := systemtest.KeepCore(t)
	defer release()
	kept := p.all[slices.IndexFunc(p.all, func(each *probe) bool { return each.core == core })]
	waitFor(t, "a stall of 100 ms", func() bool {
		stalls, _ := kept.take(clock.Now())
		return slices.ContainsFunc(stalls, func(s clock.Interval) bool { return s.To-s.From >= 100*millisecond })
	})
}

func waitFor(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !come(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}
