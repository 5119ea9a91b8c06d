package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"lifeline/loadgen/broker/child"
)

// logLines is how much of its log the report of a node's end shows.
const logLines = 12

// node is one process of an embedded cluster.
type node struct {
	name    string
	log     string
	command func() *exec.Cmd
	ready   func(ctx context.Context) (bool, error) // asked again and again until true
	poll    time.Duration                           // between two questions

	// Below: guarded by embedded.mutex.
	process *child.Process // nil: never started
	down    bool           // by Kill or Close: its end is no surprise
	stopped bool
}

// embedded is what NATS and Kafka clusters have in common: processes, their faults and their end.
type embedded struct {
	dir   string
	nodes []*node

	mutex  sync.Mutex
	exited chan struct{}
	err    error
}

func newEmbedded(dir string) *embedded { return &embedded{dir: dir, exited: make(chan struct{})} }

// startAll starts every node and returns when all serve.
func (e *embedded) startAll(ctx context.Context) error {
	processes := make([]*child.Process, len(e.nodes))
	for i, n := range e.nodes {
		var err error
		if processes[i], err = e.launch(n); err != nil {
			return err
		}
	}
	for i, n := range e.nodes {
		if err := await(ctx, n, processes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *embedded) launch(n *node) (*child.Process, error) {
	process, err := child.Start(n.command(), n.log)
	if err != nil {
		return nil, err
	}
	e.mutex.Lock()
	n.process, n.down, n.stopped = process, false, false
	e.mutex.Unlock()
	go e.watch(n, process)
	return process, nil
}

// watch notes a process's end as the cluster's error unless somebody wanted it.
func (e *embedded) watch(n *node, process *child.Process) {
	<-process.Done()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if n.down || e.err != nil {
		return
	}
	e.err = exit(n, process)
	close(e.exited)
}

// await returns when a node serves.
func await(ctx context.Context, n *node, process *child.Process) error {
	ticker := time.NewTicker(n.poll)
	defer ticker.Stop()
	var last error
	for {
		ready, err := n.ready(ctx)
		if ready {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-process.Done():
			return exit(n, process)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the broker's node %s: %w", n.name, errors.Join(context.Cause(ctx), last))
		case <-ticker.C:
		}
	}
}

// running tells whether a node can answer, as far as its process goes.
func (e *embedded) running(i int) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	n := e.nodes[i]
	return n.process != nil && n.process.Alive() && !n.stopped
}

// up is how many nodes can answer, as far as their processes go.
func (e *embedded) up() int {
	count := 0
	for i := range e.nodes {
		if e.running(i) {
			count++
		}
	}
	return count
}

// pick returns a node that has the wanted state, or an error that tells which it has.
func (e *embedded) pick(i int, alive bool) (*node, error) {
	if i < 0 || i >= len(e.nodes) {
		return nil, fmt.Errorf("there is no node %d: the broker has nodes 0 to %d", i, len(e.nodes)-1)
	}
	n := e.nodes[i]
	if n.process.Alive() == alive {
		return n, nil
	}
	if alive {
		return nil, fmt.Errorf("node %s is down", n.name)
	}
	return nil, fmt.Errorf("node %s runs already", n.name)
}

func (e *embedded) Kill(i int) error {
	e.mutex.Lock()
	n, err := e.pick(i, true)
	if err == nil {
		n.down = true
	}
	e.mutex.Unlock()
	if err != nil {
		return fmt.Errorf("killing a broker's node: %w", err)
	}
	return n.process.Kill()
}

func (e *embedded) Stop(i int) error     { return e.halt(i, true, syscall.SIGSTOP) }
func (e *embedded) Continue(i int) error { return e.halt(i, false, syscall.SIGCONT) }

func (e *embedded) halt(i int, stopped bool, signal syscall.Signal) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	n, err := e.pick(i, true)
	if err != nil {
		return fmt.Errorf("sending %s to a broker's node: %w", signal, err)
	}
	n.stopped = stopped
	return n.process.Signal(signal)
}

func (e *embedded) Start(ctx context.Context, i int) error {
	e.mutex.Lock()
	n, err := e.pick(i, false)
	e.mutex.Unlock()
	if err != nil {
		return fmt.Errorf("starting a broker's node again: %w", err)
	}
	process, err := e.launch(n)
	if err != nil {
		return err
	}
	return await(ctx, n, process)
}

func (e *embedded) Processes() []int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	pids := make([]int, len(e.nodes))
	for i, n := range e.nodes {
		if n.process != nil && n.process.Alive() {
			pids[i] = n.process.Pid()
		}
	}
	return pids
}

func (e *embedded) Exited() <-chan struct{} { return e.exited }

func (e *embedded) Err() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.err
}

// Close kills the nodes: nothing that they hold is needed any more, and an orderly end of a loaded node can take minutes.
func (e *embedded) Close(context.Context) error {
	e.mutex.Lock()
	var running []*child.Process
	for _, n := range e.nodes {
		n.down = true
		if n.process != nil {
			running = append(running, n.process)
		}
	}
	e.mutex.Unlock()
	var failed []error
	for _, process := range running {
		failed = append(failed, process.Kill())
	}
	if err := os.RemoveAll(e.dir); err != nil {
		failed = append(failed, fmt.Errorf("removing the broker's data: %w", err))
	}
	return errors.Join(failed...)
}
