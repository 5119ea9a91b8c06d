package host

import (
	"os"
	"os/exec"
	"reflect"
	"testing"
	"time"

	"lifeline/loadgen/result"
	"lifeline/loadgen/systemtest"
)

func TestAProcessMayCallItselfWhatItLikes(t *testing.T) {
	got, ok := parseCitizen([]byte("4711 (a) b\n(\xff) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 7 0 99 123456 321"))
	if want := (citizen{name: "a) b?(?", cpu: 300, started: 99}); !ok || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, broken := range []string{"", "1 (a", "1 a) (", "1 (a) S 1 2", "1 (a) S 1 2 3 4 5 6 7 8 9 10 x 50 0 0 20 0 7 0 99"} {
		if got, ok := parseCitizen([]byte(broken)); ok {
			t.Errorf("%q is %+v", broken, got)
		}
	}
}

func TestTheBusiestAreNamedTheMostFirst(t *testing.T) {
	before := census{1: {"init", 5, 100}, 2: {"broker", 6, 100}, 3: {"gone", 7, 100}, 4: {"old", 8, 5_000}, 5: {"calm", 9, 50}}
	after := census{
		1: {"init", 5, 150}, 2: {"broker", 6, 900}, 4: {"new, with the id of an old one", 500, 200}, 5: {"calm", 9, 51},
		6: {"late", 600, 100}, 7: {"fourth", 601, 40},
	}
	cores, top := busiest(before, after, func(pid int) bool { return pid == 2 }, 10)
	want := []result.Process{{Name: "new, with the id of an old one", ID: 4, Cores: 0.2}, {Name: "late", ID: 6, Cores: 0.1}, {Name: "init", ID: 1, Cores: 0.05}}
	if !reflect.DeepEqual(top, want) || cores < 0.3909 || cores > 0.3911 {
		t.Errorf("%.3f cores, %+v", cores, top)
	}
	if cores, top := busiest(nil, nil, func(int) bool { return false }, 1); cores != 0 || len(top) != 0 {
		t.Errorf("%g cores, %+v of nothing", cores, top)
	}
}

func TestAWatchThatEndsBeforeItsMeasureCountsFromItsStart(t *testing.T) {
	systemtest.Mark(t)
	none := func() []int { return nil }
	watch, err := Start(10*time.Millisecond, none, none)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	// Ticks are coarse, and a busy machine takes its time between two of them; since its own start it has used thousands.
	if _, noise := watch.Stop(0); noise.Others > 20*float64(cores()) {
		t.Errorf("others used %g of %d cores", noise.Others, cores())
	}
}

func TestALoopBesideTheFleetIsSeenAndNamed(t *testing.T) {
	systemtest.Mark(t)
	none := func() []int { return nil }
	watch, err := Start(100*time.Millisecond, none, none)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	watch.Measure()
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	// On a busy machine the loop gets its share late.
	for deadline := time.Now().Add(30 * time.Second); takeCensus()[busy.Process.Pid].cpu < 50 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	share := float64(takeCensus()[busy.Process.Pid].cpu) / ticksPerSecond / time.Since(began).Seconds()
	_, noise := watch.Stop(1)
	for _, process := range noise.Busiest {
		if process.ID == os.Getpid() {
			t.Errorf("the fleet is one of the others: %+v", noise.Busiest)
		}
		if process.ID == busy.Process.Pid && process.Name == "sh" && process.Cores > 0 && noise.Others >= process.Cores {
			return
		}
	}
	// The load of other processes may be greater, and then that is what is named; a tenth is for what came after the question.
	if named := noise.Busiest; len(named) == mostNamed && named[mostNamed-1].Cores > 0.9*share {
		t.Logf("others used more than the loop's %g cores: %+v", share, named)
		return
	}
	t.Errorf("process %d is not among %+v", busy.Process.Pid, noise)
}
