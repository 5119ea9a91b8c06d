package host

import (
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/systemtest"
)

func TestTheCommandNameDoesNotShiftTheFieldsOfAProcess(t *testing.T) {
	line := "4711 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 7 0 99 123456 321 18446744073709551615"
	got, err := parseProcess([]byte(line))
	if err != nil || got.cpu != 300 || got.rss != 321*int64(os.Getpagesize()) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseProcess([]byte(strings.Replace(line, ") S", ") Z", 1))); err == nil {
		t.Error("a zombie counts as running")
	}
}

func TestCPUTimesAreThoseOfTheFirstLine(t *testing.T) {
	got := parseCPU([]byte("cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n"))
	if got != (cpuTimes{processes: 60, idle: 450, steal: 8, total: 531}) {
		t.Errorf("%+v", got)
	}
}

func TestTheBrokersChildrenAreTheBrokers(t *testing.T) {
	systemtest.Mark(t)
	server := exec.Command("sh", "-c", "while :; do :; done & while :; do :; done & wait")
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL); _ = server.Wait() }()
	watch, err := Start(50*time.Millisecond, func() []int { return []int{server.Process.Pid} }, func() []int { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); watch.Last().BrokerCPU < 0.3 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	watch.Measure()
	time.Sleep(500 * time.Millisecond)
	resources, _ := watch.Stop(1)
	if resources.Broker.Processes != 3 || resources.Broker.CPU == 0 {
		t.Errorf("%+v: the shell that waits uses nothing, its two children do", resources.Broker)
	}
}

func TestAWatchChargesEachSideWithItsProcesses(t *testing.T) {
	systemtest.Mark(t)
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	none := func() []int { return nil }
	watch, err := Start(100*time.Millisecond, func() []int { return []int{0, busy.Process.Pid} }, none)
	if err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory() // what an earlier test left would do for the ballast
	watch.Base()
	ballast := make([]byte, 64<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	watch.Measure()
	// On a busy machine the loop gets its share late.
	deadline := time.Now().Add(time.Minute)
	for ran := 0.0; (ran < 2 || len(watch.Samples()) < 3) && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		ran += watch.Last().BrokerCPU
	}
	resources, noise := watch.Stop(1000)
	ballast[0] = 2

	if resources.Broker.CPU <= resources.Client.CPU || resources.Broker.Processes != 1 || resources.Client.Processes != 1 {
		t.Errorf("broker %+v, client %+v", resources.Broker, resources.Client)
	}
	if grown := resources.Client.PeakRSS - resources.Client.BaseRSS; grown < 60<<20 || resources.Client.PerConnection != float64(grown)/1000 {
		t.Errorf("client %+v for 64 MiB", resources.Client)
	}
	if resources.Idle < 0 || resources.Idle > 1 || resources.VmstatMemory < 0 {
		t.Errorf("%+v", resources)
	}
	if noise.HiccupMax < noise.HiccupP998 || noise.HiccupP998 <= 0 || noise.RunQueueWait <= 0 {
		t.Errorf("%+v", noise)
	}
	if len(watch.Samples()) < 3 || watch.Last().BrokerCPU < 0 {
		t.Errorf("%d samples, last %+v", len(watch.Samples()), watch.Last())
	}
}

func TestWhatComesAfterTheMeasuredPartIsNoneOfItsLoad(t *testing.T) {
	systemtest.Mark(t)
	none := func() []int { return nil }
	watch, err := Start(10*time.Millisecond, none, none)
	if err != nil {
		t.Fatal(err)
	}
	watch.Measure()
	for begun := cpuTime(t); cpuTime(t)-begun < 100*time.Millisecond; { // load, however late the machine has time for it
	}
	watch.Rest()
	want := watch.measured
	for seen := len(watch.Samples()); len(watch.Samples()) < seen+30; time.Sleep(10 * time.Millisecond) { // and none
	}
	resources, noise := watch.Stop(1)
	if resources.Client.CPU != want.cores[1] || resources.Idle != want.idle || !reflect.DeepEqual(noise, want.noise) || want.cores[1] <= 0 {
		t.Errorf("at the end of the measured part %+v, later %+v and %+v", want, resources, noise)
	}
}

// cpuTime is what this process has used so far.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Nano())
}

func TestAGaugeThatTheMachineDoesNotHaveIsNamed(t *testing.T) {
	busy := [2]group{{cpu: 100}, {cpu: 50}}
	blind := reckon(cpuTimes{}, cpuTimes{}, 2, busy)
	if blind.cores != [2]float64{0.5, 0.25} || len(blind.noise.Unseen) != 2 || blind.noise.Others != 0 || blind.idle != 0 {
		t.Errorf("nothing to see but processes: %+v", blind)
	}
	busy[0].waiting, busy[0].turns = 900, 3
	seen := reckon(cpuTimes{}, cpuTimes{processes: 250, idle: 140, steal: 10, total: 400}, 2, busy)
	if seen.noise.Unseen != nil || seen.noise.Others != 0.5 || seen.idle != 0.35 || seen.noise.Steal != 0.025 || seen.noise.RunQueueWait != 300 {
		t.Errorf("all to see: %+v", seen)
	}
}

func TestARestartedBrokerIsAnotherProcessOfTheSameSide(t *testing.T) {
	g := group{last: map[int]usage{}}
	own := os.Getpid()
	g.update([]int{own})
	g.last[own] = usage{cpu: g.last[own].cpu - 7, waiting: -5, turns: -5}
	g.update([]int{own, 0})
	if g.cpu < 7 || g.waiting < 5 || g.turns < 5 || g.processes != 1 {
		t.Errorf("%+v", g)
	}
	g.update(nil)
	if g.rss != 0 || len(g.last) != 0 {
		t.Errorf("an ended process still counts: %+v", g)
	}
}

func TestTheMachineIsDescribed(t *testing.T) {
	got := Machine()
	if got.Cores < 1 || got.Memory < 1<<20 || !strings.HasPrefix(got.Kernel, "Linux ") {
		t.Errorf("%+v", got)
	}
}
