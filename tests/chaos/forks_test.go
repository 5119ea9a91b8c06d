package chaos

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const (
	cacheLine    = 64
	children     = 3 // of each server, each with one of its own
	progressed   = 100
	shortRuns    = 1000 // and up: of children that emit three events each
	forkingLimit = 10 * time.Minute
)

// forking is a server that forks, its children and theirs: processes base, base+1, ...
type forking struct {
	*harness.Process
	side  string
	base  int
	lines int
}

func startForking(t *testing.T, settings []string, base, lines int, arguments ...string) *forking {
	t.Helper()
	side := filepath.Join(t.TempDir(), "side")
	arguments = append([]string{"--side", side, "--base", strconv.Itoa(base)}, arguments...)
	return &forking{harness.Start(t, settings, harness.Program(t, "forking-emitter"), arguments...), side, base, lines}
}

// line is the report of one process: the number of emits that have returned, and its pid.
func (f *forking) line(t *testing.T, number int) (returned int64, pid int) {
	t.Helper()
	data, err := os.ReadFile(f.side)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if len(data) != f.lines*cacheLine {
		return 0, 0 // not begun
	}
	line := data[number*cacheLine:]
	return int64(binary.LittleEndian.Uint64(line)), int(binary.LittleEndian.Uint64(line[8:]))
}

// waitForProgress waits until each process has emitted so much more, and has said which it is.
func (f *forking) waitForProgress(t *testing.T) {
	t.Helper()
	for number := range f.lines {
		before, _ := f.line(t, number)
		for deadline := time.Now().Add(forkingLimit); ; time.Sleep(20 * time.Millisecond) {
			if returned, pid := f.line(t, number); returned >= before+progressed && pid != 0 {
				break
			}
			if !f.Running() || time.Now().After(deadline) {
				t.Fatalf("process %d does not get on: %s", number, f.Stderr())
			}
		}
	}
}

func (f *forking) kill(t *testing.T, number int) {
	t.Helper()
	if _, pid := f.line(t, number); syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Fatalf("process %d has ended", number)
	}
}

// note waits for the end, and records the report of each process.
func (f *forking) note(t *testing.T, books *books) {
	t.Helper()
	if code := f.Wait(t, forkingLimit); code != 0 {
		t.Errorf("the server of %d exited with %d: %s", f.base, code, f.Stderr())
	}
	for number := range f.lines {
		books.account(f.base + number).returned[0], _ = f.line(t, number)
	}
}

// All servers at once, since most of it is waiting: each forks at another moment of the emitter's life.
func TestEachForkedChildKeepsItsOwnBooksWhileTheBrokerIsRestarted(t *testing.T) {
	harness.System(t)
	t.Parallel()
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			broker := harness.StartBroker(t, kind)
			broker.SetUp(t)
			rings := harness.MemoryDir(t)
			settings := append(broker.Settings(), "LIFELINE_RING_DIR="+rings, "LIFELINE_POLICY=block",
				"LIFELINE_BLOCK_TIMEOUT_MS=120000", "LIFELINE_INTERVAL_MS=100", "LIFELINE_BUDGET_BYTES=8388608")
			books := newBooks(t)
			books.forked = map[[16]byte]int{}
			var servers []*forking
			for i, when := range []string{"init", "emit", "thread"} {
				servers = append(servers, startForking(t, settings, 100*i, 1+2*children, "--when", when,
					"--children", strconv.Itoa(children)))
			}
			everybodyGetsOn := func() {
				for _, server := range servers {
					server.waitForProgress(t)
				}
			}
			everybodyGetsOn()
			broker.Kill(t)
			everybodyGetsOn()
			broker.Restart(t)
			everybodyGetsOn()
			for _, server := range servers {
				server.kill(t, 1)          // whose child lives on
				server.kill(t, 2+children) // whose parent does
			}
			for _, server := range servers {
				server.Terminate()
				server.note(t, books)
			}
			short := scaled(map[string]int{"nats": 10_000, "kafka": 2_000}[kind], 200)
			startForking(t, settings, shortRuns, 1+short, "--short", strconv.Itoa(short)).note(t, books)
			recovery := harness.StartRecover(t, harness.Program(t, "lifeline-recover"), broker.Settings(), rings, "")
			if _, code := harness.RecoveredBy(t, recovery); code != 0 {
				t.Fatalf("lifeline-recover exited with %d\n%s%s", code, recovery.Stdout(), recovery.Stderr())
			}
			harness.IsEmpty(t, rings)
			harness.ReadTopic(t, broker, books.enter)
			sum := books.close()
			sum.kills, sum.outages = int64(2*len(servers)), 1
			enter(sum)
			t.Logf("%s: %d processes: %s", kind, len(books.runs), &sum)
		})
	}
}
