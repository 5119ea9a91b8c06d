package run

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"lifeline/loadgen/child"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// crew is the worker processes of a run.
type crew struct {
	members   []*member
	reports   chan said
	listening sync.WaitGroup
}

// said is a report with its worker.
type said struct {
	member int
	report worker.Report
	err    error // the member is gone; report is empty
}

type member struct {
	command *exec.Cmd
	in      io.WriteCloser
	orders  *gob.Encoder
	log     string
}

// hire starts the workers. Each logs to a file in dir.
func hire(workers int, dir string) (*crew, error) {
	c := &crew{reports: make(chan said, workers)}
	for number := range workers {
		m, out, err := start(filepath.Join(dir, fmt.Sprintf("worker-%d.log", number)))
		if err != nil {
			c.dismiss()
			return nil, fmt.Errorf("starting worker %d of %d: %w", number+1, workers, err)
		}
		c.members = append(c.members, m)
		c.listening.Go(func() { c.listen(number, out) })
	}
	return c, nil
}

func start(log string) (*member, io.Reader, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	command := child.Command(context.Background(), worker.Role)
	command.Stderr = file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the coordinator, which lets the workers finish
	in, err := command.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := command.Start(); err != nil {
		return nil, nil, err
	}
	return &member{command: command, in: in, orders: gob.NewEncoder(in), log: log}, out, nil
}

func (c *crew) listen(number int, out io.Reader) {
	decoder := gob.NewDecoder(out)
	for {
		var report worker.Report
		if err := decoder.Decode(&report); err != nil {
			c.reports <- said{member: number, err: err}
			return
		}
		c.reports <- said{member: number, report: report}
		if report.Final != nil || report.Failure != nil {
			return // a normal exit, even while others work
		}
	}
}

func (c *crew) order(number int, order worker.Order) error {
	if err := c.members[number].orders.Encode(order); err != nil {
		return c.death(number, err)
	}
	return nil
}

func (c *crew) orderAll(order worker.Order) error {
	var errs []error
	for number := range c.members {
		errs = append(errs, c.order(number, order))
	}
	return errors.Join(errs...)
}

// death returns a worker's exit status and the end of its log.
func (c *crew) death(number int, err error) *result.Failure {
	m := c.members[number]
	text, _ := os.ReadFile(m.log)
	const enough = 2000
	if len(text) > enough {
		text = text[len(text)-enough:]
	}
	message := fmt.Sprintf("worker %d of %d ended before its result: %v", number+1, len(c.members), err)
	if last := strings.TrimSpace(string(text)); last != "" {
		message += "; the end of its log:\n" + last
	}
	return &result.Failure{Cause: result.WorkerExit, Message: message}
}

func (c *crew) processes() []int {
	var pids []int
	for _, m := range c.members {
		pids = append(pids, m.command.Process.Pid)
	}
	return pids
}

// dismiss closes the workers' standard input, and kills those that do not exit.
func (c *crew) dismiss() {
	var group sync.WaitGroup
	for _, m := range c.members {
		group.Go(func() {
			m.in.Close()
			const grace = 5 * time.Second
			kill := time.AfterFunc(grace, func() { m.command.Process.Kill() })
			defer kill.Stop()
			m.command.Wait() // its exit status says nothing that its reports have not said
		})
	}
	ended, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			select {
			case <-c.reports: // a listener must not be left behind
			case <-ended.Done():
				return
			}
		}
	}()
	group.Wait()
	c.listening.Wait()
	cancel()
}
