package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/child"
)

const (
	partStart = 5 * time.Minute  // a Java machine on a busy computer
	partEnd   = 30 * time.Second // to finish what they do after SIGTERM
	lastLines = 15
)

// part is a child process that prints its address when it serves: the word that follows a mark on standard output.
type part struct {
	name    string
	process *child.Process

	mutex   sync.Mutex
	last    []string // lines of both outputs
	address string
	serves  chan struct{} // closed when there is an address
}

// start starts a part in the process group of this process, so that the terminal's signals reach all of them.
func start(name, mark string, environment []string, program string, arguments ...string) (*part, error) {
	p := &part{name: name, serves: make(chan struct{})}
	command := exec.Command(program, arguments...)
	command.Env = environment
	command.Stdout = &lines{each: func(line string) { p.said(line, mark) }}
	command.Stderr = &lines{each: func(line string) {
		p.remember(line)
		relayed(name, line)
	}}
	command.SysProcAttr = &syscall.SysProcAttr{Pgid: unix.Getpgrp()}
	command.WaitDelay = partEnd
	var err error
	p.process, err = child.Start(command)
	return p, err
}

func (p *part) said(line, mark string) {
	p.remember(line)
	if _, after, found := strings.Cut(line, mark); found {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		if p.address == "" {
			p.address, _, _ = strings.Cut(after, " ")
			close(p.serves)
		}
	}
}

func (p *part) remember(line string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.last = append(p.last, line)
	p.last = p.last[max(0, len(p.last)-lastLines):]
}

// ready returns the part's address when a GET of its path answers with 200.
func (p *part) ready(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, partStart, fmt.Errorf("%s does not answer within %v", p.name, partStart))
	defer cancel()
	select {
	case <-p.serves:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	address := strings.TrimSuffix(p.address, "/")
	for !answers(ctx, address+path) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return address, nil
}

func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// ended describes the end of the process and what it printed last.
func (p *part) ended() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.last) == 0 {
		return fmt.Errorf("%s has ended (%s) and printed nothing", p.name, p.process.End())
	}
	return fmt.Errorf("%s has ended (%s); its last lines:\n  %s", p.name, p.process.End(), strings.Join(p.last, "\n  "))
}

// end asks the parts to end, and kills those that take too long.
func end(parts []*part) {
	for _, p := range parts {
		_ = p.process.Signal(syscall.SIGTERM)
	}
	late, cancel := context.WithTimeout(context.Background(), partEnd)
	defer cancel()
	for _, p := range parts {
		select {
		case <-p.process.Done():
		case <-late.Done():
			relayed(p.name, fmt.Sprintf("does not end within %v after SIGTERM and is killed", partEnd))
			_ = p.process.Kill()
		}
	}
}

// relayed prints a line of a part. Lines of several parts do not mix.
func relayed(name, line string) { fmt.Fprintf(os.Stderr, "%s: %s\n", name, line) }

// lines calls each for each line that is written.
type lines struct {
	each    func(line string)
	partial []byte
}

func (l *lines) Write(text []byte) (int, error) {
	l.partial = append(l.partial, text...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(text), nil
		}
		l.each(string(line))
		l.partial = rest
	}
}
