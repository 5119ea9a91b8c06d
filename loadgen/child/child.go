// Package child runs processes that never outlive this one, and reports how they end.
package child

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Process is a started command.
type Process struct {
	command *exec.Cmd
	done    chan struct{}
}

// StartLogged is Start for a command whose output is appended to a log. Its standard input stays open as long as this process
// lives.
func StartLogged(command *exec.Cmd, log string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", command.Path, err)
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	if _, err := command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("making the standard input of %s: %w", command.Path, err)
	}
	return Start(command)
}

// Start starts a command that is killed, or gets the signal that it asks for, when this process exits. Ctrl-C at the terminal does not reach it:
// the fleet stops its children itself.
func Start(command *exec.Cmd) (*Process, error) {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setpgid = true
	if command.SysProcAttr.Pdeathsig == 0 {
		command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	process := &Process{command: command, done: make(chan struct{})}
	started := make(chan error)
	go process.hold(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", command.Path, err)
	}
	return process, nil
}

// hold keeps the thread that started the command: PDEATHSIG is sent when that thread exits, not the process.
func (p *Process) hold(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.command.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.command.Wait() // what it returns is in ProcessState as well
	close(p.done)
}

// Pid is the process's id.
func (p *Process) Pid() int { return p.command.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Alive reports whether the process has not ended yet.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// End describes the exit status, such as "exit status 1" or "signal: killed"; the process must have exited.
func (p *Process) End() string { return p.command.ProcessState.String() }

// Signal sends a signal; a process that has ended already is no error.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to process %d: %w", signal, p.Pid(), err)
	}
	return nil
}

// Pause stops the process (SIGSTOP) and returns when all its threads have stopped: the signal alone takes effect later.
func (p *Process) Pause() error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		switch err := unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil); {
		case err == nil:
			return nil // stopped, or has ended, which Done reports
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("waiting for process %d to stop: %w", p.Pid(), err)
		}
	}
}

// Kill ends the process at once and returns when it has ended.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	if err == nil {
		<-p.done
	}
	return err
}

// tailBytes is as much of a log's end as Tail looks at.
const tailBytes = 16 << 10

// Tail returns the last lines of a log, as many as there are and at most the given number; none if it cannot be read.
func Tail(log string, lines int) []string {
	file, err := os.Open(log)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = file.Seek(-tailBytes, io.SeekEnd)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil
	}
	content = bytes.TrimRight(content, "\n")
	if len(content) == 0 {
		return nil
	}
	all := strings.Split(string(content), "\n")
	return all[max(0, len(all)-lines):]
}
