package chaos

import (
	"encoding/json"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const (
	outageRate = 1_000_000 // events per second
	between    = 4 * time.Second
	longest    = 2 * time.Second // that an outage may hold up 256 emits of a program, beside what the machine does
)

// report is what a serial-emitter prints at its end.
type report struct {
	Emitted        int64   `json:"emitted"`
	Dropped        int64   `json:"dropped"`
	Seconds        float64 `json:"seconds"`
	LongestPauseMs float64 `json:"longest_pause_ms"`
	WaitedSeconds  float64 `json:"waited_s"`         // for a processor, by the thread that waited most
	LibraryWaited  float64 `json:"library_waited_s"` // likewise, by the threads of the library and its sink in all
}

// machines is how much of the program's time, in seconds, was taken by the machine and not by the library: threads were ready
// to run, and either other processes had the processors or the whole machine stood still.
func (r report) machines(standstill time.Duration) float64 {
	return max(r.WaitedSeconds, standstill.Seconds())
}

func reportOf(t *testing.T, emitter *harness.SerialEmitter) (said report) {
	t.Helper()
	if err := json.Unmarshal([]byte(emitter.Stdout()), &said); err != nil {
		t.Fatalf("the emitter's last line is %q: %v", emitter.Stdout(), err)
	}
	return said
}

func TestNothingIsMissingAfterOutagesOfTheBrokerUnderAMillionEventsPerSecond(t *testing.T) {
	harness.System(t)
	for _, kind := range harness.Brokers {
		t.Run(kind+" with a spool, which holds it all", func(t *testing.T) {
			sum := outages(t, kind, harness.MemoryDir(t), scaled(10, 1), "LIFELINE_POLICY=block", "LIFELINE_BLOCK_TIMEOUT_MS=120000")
			if sum.dropped > 0 {
				t.Errorf("wrong books: %d events were dropped", sum.dropped)
			}
		})
		t.Run(kind+" without one, when what is not there was counted as dropped", func(t *testing.T) {
			if testing.Short() {
				t.Skip("in the long form")
			}
			sum := outages(t, kind, "", 1, "LIFELINE_POLICY=drop-newest")
			if sum.dropped == 0 {
				t.Errorf("an outage of this length fits into memory: the test does not show that drops are counted")
			}
		})
	}
}

// outages has the broker die again and again while an emitter works. All its files are in memory: how long a disk holds up
// a program that writes to it is another question.
func outages(t *testing.T, kind, spool string, times int, settings ...string) tally {
	broker := harness.StartBroker(t, kind)
	broker.SetUp(t)
	rings, books := harness.MemoryDir(t), newBooks(t)
	settings = append(append(broker.Settings(), "LIFELINE_RING_DIR="+rings, "LIFELINE_FLUSH_TIMEOUT_MS=120000"), settings...)
	if spool != "" {
		settings = append(settings, "LIFELINE_SPOOL="+spool, "LIFELINE_SPOOL_BYTES=20000000000")
	}
	standstill := harness.WatchStandstill(t)
	emitter := harness.StartSerialEmitter(t, settings, harness.MemoryDir(t), 1, endless, outageRate)
	away := time.Duration(scaled(30, 3)) * time.Second
	for number := range times {
		time.Sleep(between / time.Duration(scaled(1, 4)))
		broker.Kill(t)
		time.Sleep(away)
		broker.Restart(t)
		t.Logf("%s: outage %d of %d is over", kind, number+1, times)
	}
	time.Sleep(time.Second)
	emitter.Terminate()
	if code := emitter.Wait(t, 5*time.Minute); code != 0 {
		t.Fatalf("the emitter exited with %d: %s", code, emitter.Stderr())
	}
	said := reportOf(t, emitter)
	recovery := harness.StartRecover(t, harness.Program(t, "lifeline-recover"), broker.Settings(), rings, spool)
	if _, code := harness.RecoveredBy(t, recovery); code != 0 {
		t.Fatalf("lifeline-recover exited with %d\n%s%s", code, recovery.Stdout(), recovery.Stderr())
	}
	books.note(emitter)
	harness.ReadTopic(t, broker, books.enter)
	sum := books.close()
	sum.outages = int64(times)
	enter(sum)
	t.Logf("%s: %s; the longest pause of 256 emits was %.1f ms", kind, &sum, said.LongestPauseMs)
	machines := said.machines(standstill())
	if said.LongestPauseMs > (longest.Seconds()+machines)*1e3 {
		t.Errorf("the program was held up for %.0f ms", said.LongestPauseMs)
	}
	if rate := float64(said.Emitted) / (said.Seconds - machines); rate < 0.9*outageRate {
		t.Errorf("the program came to %.0f events per second only, of %.1f s without processors: %s", rate, machines, emitter.Stderr())
	}
	return sum
}
