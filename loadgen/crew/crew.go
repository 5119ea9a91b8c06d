// Package crew is the worker processes of one machine, as their coordinator or agent sees them.
package crew

import (
	"context"
	"encoding/gob"
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
	"lifeline/loadgen/worker"
)

// Said is a report with its worker.
type Said struct {
	Member int
	Report worker.Report
	Err    error  // the worker is gone; Report is empty
	Log    string // the end of its log, then
}

// Crew is started workers. One goroutine may give orders.
type Crew struct {
	members   []*member
	listening sync.WaitGroup
}

type member struct {
	command *exec.Cmd
	in      io.WriteCloser
	orders  *gob.Encoder
	out     io.Reader // reports
	log     string
}

// Hire starts the workers. Each logs to a file in dir. say is called for each report, by a goroutine per worker, and last with a
// Final, a Failure or an error; it must not block any more when Dismiss is called, which must be.
func Hire(workers int, dir string, say func(Said)) (*Crew, error) {
	c := &Crew{}
	for number := range workers {
		m, err := start(filepath.Join(dir, fmt.Sprintf("worker-%d.log", number)))
		if err != nil {
			c.Dismiss()
			return nil, fmt.Errorf("starting worker %d of %d: %w", number+1, workers, err)
		}
		c.members = append(c.members, m)
	}
	for number, m := range c.members {
		c.listening.Go(func() { m.listen(number, say) })
	}
	return c, nil
}

func start(log string) (*member, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command := child.Command(context.Background(), worker.Role)
	command.Stderr = file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the coordinator, which lets the workers finish
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &member{command: command, in: in, orders: gob.NewEncoder(in), out: out, log: log}, nil
}

func (m *member) listen(number int, say func(Said)) {
	decoder := gob.NewDecoder(m.out)
	for {
		var report worker.Report
		if err := decoder.Decode(&report); err != nil {
			say(Said{Member: number, Err: err, Log: m.lastWords()})
			return
		}
		say(Said{Member: number, Report: report})
		if report.Final != nil || report.Failure != nil {
			return // a normal exit, even while others work
		}
	}
}

// lastWords are the end of the worker's log.
func (m *member) lastWords() string {
	text, _ := os.ReadFile(m.log)
	const enough = 2000
	if len(text) > enough {
		text = text[len(text)-enough:]
	}
	return strings.TrimSpace(string(text))
}

// Order gives one worker an order.
func (c *Crew) Order(number int, order worker.Order) error {
	return c.members[number].orders.Encode(order)
}

// Processes are the workers' ids.
func (c *Crew) Processes() []int {
	var pids []int
	for _, m := range c.members {
		pids = append(pids, m.command.Process.Pid)
	}
	return pids
}

// Dismiss closes the workers' standard input, kills those that do not exit, and returns when all have ended.
func (c *Crew) Dismiss() {
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
	group.Wait()
	c.listening.Wait()
}
