package harness

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// testTimeout bounds what takes a moment, or a second where it starts a JVM: much more, for machines that do much else. A
// test's own limits are what it holds a program to.
const testTimeout = 3 * time.Minute

// Process is a child whose output is kept. It is in a process group of its own, which ends with the test.
type Process struct {
	command        *exec.Cmd
	stdout, stderr lockedBuffer
	done           chan struct{}
}

// Environment is this process's own without any of Lifeline's settings, plus the given ones.
func Environment(settings ...string) []string {
	var environment []string
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "LIFELINE_") && !strings.HasPrefix(setting, "LIFELINE=") {
			environment = append(environment, setting)
		}
	}
	return append(environment, settings...)
}

// QuickJava disables Java's optimising compiler, which costs programs that live for seconds more than it gains: a third of the
// processor time of Kafka's start.
const QuickJava = "-XX:TieredStopAtLevel=1"

// quickJava sets it for the Java programs of a script.
func quickJava(program string) []string {
	switch program {
	case Script("lifeline-jobs"):
		return []string{"LIFELINE_JOBS_JAVA_OPTS=" + QuickJava + " -XX:+UseSerialGC"}
	case Script("broker"):
		return []string{"JAVA_TOOL_OPTIONS=" + QuickJava}
	}
	return nil
}

// Start starts a program with Environment(settings...).
func Start(t T, settings []string, program string, arguments ...string) *Process {
	t.Helper()
	process := &Process{command: exec.Command(program, arguments...), done: make(chan struct{})}
	process.command.Env = Environment(append(quickJava(program), settings...)...)
	process.command.Stdout, process.command.Stderr = &process.stdout, &process.stderr
	// Not even a test that is itself killed leaves them behind. Scripts are asked, since they end what they started.
	end := syscall.SIGKILL
	if strings.HasPrefix(program, Script("")) {
		end = syscall.SIGTERM
	}
	process.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: end}
	process.command.WaitDelay = 5 * time.Second
	if err := process.command.Start(); err != nil {
		t.Fatalf("cannot start %s: %v", program, err)
	}
	go func() {
		process.command.Wait()
		close(process.done)
	}()
	t.Cleanup(process.Kill)
	return process
}

// Run starts a program, waits for it and fails the test unless it exits with 0.
func Run(t T, limit time.Duration, settings []string, program string, arguments ...string) string {
	t.Helper()
	process := Start(t, settings, program, arguments...)
	if code := process.Wait(t, limit); code != 0 {
		t.Fatalf("%s exited with %d\n%s%s", program, code, process.Stdout(), process.Stderr())
	}
	return process.Stdout()
}

// Wait returns the exit code, or 128 plus the signal that ended the process.
func (p *Process) Wait(t T, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.Kill()
		t.Fatalf("%s did not end within %v\n%s%s", p.command.Path, limit, p.Stdout(), p.Stderr())
	}
	status := p.command.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Running is false once the process has ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Kill sends SIGKILL to the process group, and waits until the process has ended.
func (p *Process) Kill() { p.signalGroup(syscall.SIGKILL); <-p.done }

// Terminate sends SIGTERM to the process only.
func (p *Process) Terminate() { p.command.Process.Signal(syscall.SIGTERM) }

// Interrupt sends SIGINT to the process group, like Ctrl-C at a terminal.
func (p *Process) Interrupt() { p.signalGroup(syscall.SIGINT) }

func (p *Process) signalGroup(signal syscall.Signal) {
	if p.Running() {
		if err := syscall.Kill(-p.command.Process.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			panic(err)
		}
	}
}

// WaitForOutput waits until standard output matches, and returns the pattern's first group.
func (p *Process) WaitForOutput(t T, limit time.Duration, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		if match := expression.FindStringSubmatch(p.Stdout()); match != nil {
			return match[1]
		}
		if !p.Running() || time.Now().After(deadline) {
			t.Fatalf("%s did not print %q within %v\n%s%s", p.command.Path, pattern, limit, p.Stdout(), p.Stderr())
		}
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stdout returns standard output so far.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr returns standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

type lockedBuffer struct {
	lock   sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.buffer.String()
}
