package chaos

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const (
	eventsOfARound   = 100 // of the daemon itself, in tests/programs/long-lived.c
	eventsOfAChild   = 3
	samplesPerMinute = 600
	budget           = 8 << 20 // of the daemon's rings and batches
	fileMost         = budget + 2<<20
	slackBytes       = 4 << 20 // of memory allocators, and of what a client library keeps of the brokers
)

// sample is the resource use of a process.
type sample struct {
	private, descriptors, mappings, threads int // private: bytes that are no mapped file's
	ringFiles                               int // with those of children that live just then
	ringBytes                               int // its own file's
}

func (s sample) String() string {
	return fmt.Sprintf("private=%dKiB descriptors=%d mappings=%d threads=%d ring files=%d ring=%dKiB", s.private>>10,
		s.descriptors, s.mappings, s.threads, s.ringFiles, s.ringBytes>>10)
}

// fields are the figures of a sample, each with its permitted growth.
func (s sample) fields() [][2]int {
	return [][2]int{{s.private, slackBytes}, {s.descriptors, 4}, {s.mappings, 8}, {s.threads, 2}, {s.ringFiles, 2}}
}

func takeSample(t *testing.T, pid int, rings string) sample {
	t.Helper()
	root := fmt.Sprintf("/proc/%d/", pid)
	var s sample
	_, rest, _ := strings.Cut(read(t, root+"status"), "RssAnon:")
	if _, err := fmt.Sscan(rest, &s.private); err != nil {
		t.Fatal(err)
	}
	s.private <<= 10
	s.descriptors, s.threads = entries(t, root+"fd"), entries(t, root+"task")
	s.mappings = strings.Count(read(t, root+"maps"), "\n")
	files, err := os.ReadDir(rings)
	if err != nil {
		t.Fatal(err)
	}
	s.ringFiles = len(files)
	for _, file := range files {
		var status syscall.Stat_t
		own := strings.HasPrefix(file.Name(), fmt.Sprintf("long-lived-%d-", pid))
		if own && syscall.Stat(filepath.Join(rings, file.Name()), &status) == nil {
			s.ringBytes += int(status.Blocks) * 512
		}
	}
	return s
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func entries(t *testing.T, directory string) int {
	t.Helper()
	found, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// typical is the median of each figure.
func typical(samples []sample) sample {
	median := func(of func(sample) int) int {
		var values []int
		for _, s := range samples {
			values = append(values, of(s))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return sample{median(func(s sample) int { return s.private }), median(func(s sample) int { return s.descriptors }),
		median(func(s sample) int { return s.mappings }), median(func(s sample) int { return s.threads }),
		median(func(s sample) int { return s.ringFiles }), median(func(s sample) int { return s.ringBytes })}
}

// lifetime is how long the daemon lives: LIFELINE_LONG_LIFE=1h is a day's worth of threads, types, children and restarts.
func lifetime(t *testing.T) time.Duration {
	if text := os.Getenv("LIFELINE_LONG_LIFE"); text != "" {
		life, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("LIFELINE_LONG_LIFE: %v", err)
		}
		return life
	}
	return time.Duration(scaled(180, 20)) * time.Second
}

// Memory, descriptors, mappings, threads and ring files are the same in the last quarter of a life as in the second.
func TestALongLifeTakesNoMoreThanAShortOne(t *testing.T) {
	harness.System(t)
	t.Parallel()
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			broker := harness.StartBroker(t, kind)
			broker.SetUp(t)
			rings, side := harness.MemoryDir(t), filepath.Join(t.TempDir(), "side")
			settings := append(broker.Settings(), "LIFELINE_RING_DIR="+rings, "LIFELINE_POLICY=block",
				"LIFELINE_BLOCK_TIMEOUT_MS=120000", "LIFELINE_INTERVAL_MS=100", fmt.Sprintf("LIFELINE_BUDGET_BYTES=%d", budget))
			daemon := harness.Start(t, settings, harness.Program(t, "long-lived"), side,
				harness.Program(t, "long-lived-plugin.so"))

			life, restarts, begin := lifetime(t), scaled(8, 1), time.Now()
			var samples []sample
			for restarted := 0; time.Since(begin) < life; time.Sleep(time.Minute / samplesPerMinute) {
				if time.Since(begin) > life*time.Duration(restarted+1)/time.Duration(restarts+1) {
					broker.Kill(t)
					broker.Restart(t)
					restarted++
				}
				samples = append(samples, takeSample(t, daemon.PID(), rings))
			}
			daemon.Terminate()
			if code := daemon.Wait(t, forkingLimit); code != 0 {
				t.Fatalf("the daemon exited with %d: %s", code, daemon.Stderr())
			}

			quarter := len(samples) / 4
			early, late := typical(samples[quarter:2*quarter]), typical(samples[3*quarter:])
			for i, before := range early.fields() {
				if after := late.fields()[i]; after[0] > before[0]+before[1] {
					t.Errorf("it grew in its life from %v to %v", early, late)
					break
				}
			}
			if late.ringBytes > fileMost {
				t.Errorf("its ring file has %d bytes, and its budget is %d", late.ringBytes, budget)
			}
			rounds := int(binary.LittleEndian.Uint64([]byte(read(t, side))))
			t.Logf("%s: %d rounds, %d restarts of the broker, %v: then %v, at last %v", kind, rounds, restarts, life, early, late)
			checkLife(t, broker, rings, rounds, restarts)
		})
	}
}

func checkLife(t *testing.T, broker *harness.Broker, rings string, rounds, restarts int) {
	t.Helper()
	// Events of children that exited while the broker was down.
	recovery := harness.StartRecover(t, harness.Program(t, "lifeline-recover"), broker.Settings(), rings, "")
	if _, code := harness.RecoveredBy(t, recovery); code != 0 {
		t.Fatalf("lifeline-recover exited with %d\n%s%s", code, recovery.Stdout(), recovery.Stderr())
	}
	harness.IsEmpty(t, rings)
	books := newBooks(t)
	books.forked = map[[16]byte]int{}
	books.account(0).returned = [harness.SerialThreads]int64{int64(rounds * eventsOfARound), int64(2 * rounds)}
	for child := 1; child <= rounds; child++ {
		books.account(child).returned[0] = eventsOfAChild
	}
	harness.ReadTopic(t, broker, books.enter)
	sum := books.close()
	sum.outages = int64(restarts)
	enter(sum)
}
