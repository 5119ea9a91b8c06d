package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifeline/loadgen/report"
	"lifeline/loadgen/systemtest"
)

// programVariable makes this test program fleet itself; what fleet starts inherits it.
const programVariable = "LIFELINE_TEST_IS_FLEET"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
	}
	if signal.Ignored(syscall.SIGHUP) { // as nohup has it, and then the fleets that are started here would
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}

// fleet is a running `fleet run` on a NATS server of its own, which measures already.
type fleet struct {
	command *exec.Cmd
	temp    string // the system's temporary folder of this fleet alone, by which its processes are known
	out     string
}

func startFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{temp: t.TempDir(), out: filepath.Join(t.TempDir(), "report")}
	f.command = f.program("run", "--generators", "5", "--interval", "100ms", "--set", "initial_sleep=[0s, 0s]", "--duration", "10m",
		"--out", f.out)
	said, err := f.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.command.Process.Kill() }) // where the test has failed
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the fleet ended before it measured: %v", err)
		}
		if strings.Contains(line, "measuring") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return f
}

func (f *fleet) program(arguments ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), programVariable+"=1", "TMPDIR="+f.temp)
	return command
}

// processes are the fleet's that live: coordinator, worker, NATS node. One that has ended has no environment any more.
func (f *fleet) processes(t *testing.T) []int {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, path := range environments {
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte("TMPDIR="+f.temp+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, pid)
		}
	}
	return found
}

// awaitNone returns when none of the fleet's processes lives.
func (f *fleet) awaitNone(t *testing.T) {
	t.Helper()
	f.awaitProcesses(t, 0)
}

func (f *fleet) awaitProcesses(t *testing.T, count int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		left := f.processes(t)
		if len(left) == count {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("processes %v are left, not %d", left, count)
		}
	}
}

func (f *fleet) folders(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(f.temp, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

func TestASignalEndsARunWithItsReportAndNothingIsLeft(t *testing.T) {
	systemtest.Mark(t)
	for _, ending := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(ending.String(), func(t *testing.T) {
			t.Parallel()
			f := startFleet(t)
			for _, pid := range f.processes(t) { // as a service manager does, to all of them
				// What the first one's end has ended, too, is no error.
				if err := syscall.Kill(pid, ending); err != nil && !errors.Is(err, syscall.ESRCH) {
					t.Error(err)
				}
			}
			var exit *exec.ExitError
			if err := f.command.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ended with %v, not with exit code 1", err)
			}
			found, err := report.Read(f.out)
			if err != nil {
				t.Fatal(err)
			}
			if c := found.Counts; !found.Partial || found.Failure != nil || c.Sent == 0 || c.Received != c.Sent {
				t.Errorf("wrong books: partial %t, failure %v, %d of %d messages received", found.Partial, found.Failure, c.Received, c.Sent)
			}
			f.awaitNone(t)
			if left := f.folders(t); len(left) > 0 {
				t.Errorf("it left %q", left)
			}
		})
	}
}

func TestNothingOutlivesAFleetThatIsKilledAndTheNextTidiesUp(t *testing.T) {
	systemtest.Mark(t)
	t.Parallel()
	f := startFleet(t)
	if count := len(f.processes(t)); count != 3 {
		t.Errorf("the fleet has %d processes, not a coordinator, a worker and a NATS node", count)
	}
	if err := f.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = f.command.Wait() // it says that it was killed
	f.awaitNone(t)
	if left := f.folders(t); len(left) != 1 {
		t.Errorf("a killed fleet left %q", left)
	}
	next := f.program("run", "--url", "nats://127.0.0.1:1", "--out", f.out)
	if text, err := next.CombinedOutput(); err == nil || !strings.Contains(string(text), "no broker answers") {
		t.Errorf("a run without a broker: %v, %s", err, text)
	}
	if left := f.folders(t); len(left) > 0 {
		t.Errorf("the next one left %q", left)
	}
}
