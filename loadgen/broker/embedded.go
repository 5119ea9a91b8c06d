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

	"lifeline/loadgen/broker/ports"
	"lifeline/loadgen/child"
)

// logLines is the number of log lines in the report of a node's exit.
const logLines = 12

// node is one process of an embedded cluster.
type node struct {
	name    string
	log     string
	command func() *exec.Cmd
	ready   func(ctx context.Context) (bool, error) // polled until true
	poll    time.Duration                           // interval

	life *life // the present one, or the last; nil: never started; guarded by embedded.mutex
}

// life is a node's from a start to the end of its process. Its flags are guarded by embedded.mutex.
type life struct {
	*child.Process
	unwanted bool // Kill or Close ended it
	stopped  bool
}

// embedded is what NATS and Kafka clusters have in common: processes, their faults and their end.
type embedded struct {
	dir   string
	nodes []*node
	ports *ports.Reservation

	mutex  sync.Mutex
	exited chan struct{}
	err    error
}

// newEmbedded reserves as many ports for the cluster's nodes.
func newEmbedded(dir string, count int) (*embedded, error) {
	reserved, err := ports.Reserve(count)
	if err != nil {
		return nil, err
	}
	return &embedded{dir: dir, ports: reserved, exited: make(chan struct{})}, nil
}

// startAll starts every node and returns when all serve.
func (e *embedded) startAll(ctx context.Context) error {
	lives := make([]*life, len(e.nodes))
	for i, n := range e.nodes {
		var err error
		if lives[i], err = e.launch(n); err != nil {
			return err
		}
	}
	for i, n := range e.nodes {
		if err := await(ctx, n, lives[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *embedded) launch(n *node) (*life, error) {
	process, err := child.StartLogged(n.command(), n.log)
	if err != nil {
		return nil, err
	}
	l := &life{Process: process}
	e.mutex.Lock()
	n.life = l
	e.mutex.Unlock()
	go e.watch(n, l)
	return l, nil
}

// watch records an unexpected exit as the cluster's error.
func (e *embedded) watch(n *node, l *life) {
	<-l.Done()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if l.unwanted || e.err != nil {
		return
	}
	e.err = exit(n, l)
	close(e.exited)
}

// await returns when a node serves.
func await(ctx context.Context, n *node, l *life) error {
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
		case <-l.Done():
			return exit(n, l)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the broker's node %s: %w", n.name, errors.Join(context.Cause(ctx), last))
		case <-ticker.C:
		}
	}
}

// running reports whether a node's process runs and is not stopped.
func (e *embedded) running(i int) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	l := e.nodes[i].life
	return l != nil && l.Alive() && !l.stopped
}

// up is the number of nodes whose process runs and is not stopped.
func (e *embedded) up() int {
	count := 0
	for i := range e.nodes {
		if e.running(i) {
			count++
		}
	}
	return count
}

// pick returns the node if it has the required state; the error names its actual state.
func (e *embedded) pick(i int, alive bool) (*node, error) {
	if i < 0 || i >= len(e.nodes) {
		return nil, fmt.Errorf("there is no node %d: the broker has nodes 0 to %d", i, len(e.nodes)-1)
	}
	n := e.nodes[i]
	if n.life.Alive() == alive {
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
	if err != nil {
		e.mutex.Unlock()
		return fmt.Errorf("killing a broker's node: %w", err)
	}
	l := n.life
	l.unwanted = true
	e.mutex.Unlock()
	return l.Kill()
}

func (e *embedded) Stop(i int) error     { return e.halt(i, true, (*life).Pause) }
func (e *embedded) Continue(i int) error { return e.halt(i, false, (*life).resume) }

func (l *life) resume() error { return l.Signal(syscall.SIGCONT) }

func (e *embedded) halt(i int, stopped bool, act func(*life) error) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	n, err := e.pick(i, true)
	if err != nil {
		return fmt.Errorf("stopping or continuing a broker's node: %w", err)
	}
	n.life.stopped = stopped
	return act(n.life)
}

func (e *embedded) Start(ctx context.Context, i int) error {
	e.mutex.Lock()
	n, err := e.pick(i, false)
	e.mutex.Unlock()
	if err != nil {
		return fmt.Errorf("starting a broker's node again: %w", err)
	}
	l, err := e.launch(n)
	if err != nil {
		return err
	}
	return await(ctx, n, l)
}

func (e *embedded) Processes() []int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	pids := make([]int, len(e.nodes))
	for i, n := range e.nodes {
		if n.life != nil && n.life.Alive() {
			pids[i] = n.life.Pid()
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

// Close kills the nodes: their data is not needed, and an orderly shutdown under load can take minutes.
func (e *embedded) Close(context.Context) error {
	e.mutex.Lock()
	var lives []*life
	for _, n := range e.nodes {
		if n.life != nil {
			n.life.unwanted = true
			lives = append(lives, n.life)
		}
	}
	e.mutex.Unlock()
	var failed []error
	for _, l := range lives {
		failed = append(failed, l.Kill())
	}
	e.ports.Close()
	if err := os.RemoveAll(e.dir); err != nil {
		failed = append(failed, fmt.Errorf("removing the broker's data: %w", err))
	}
	return errors.Join(failed...)
}
