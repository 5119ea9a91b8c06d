package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"lifeline/loadgen/certificates"
	"lifeline/loadgen/child"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
	"lifeline/loadgen/systemtest"
)

// natsRole makes this test program a NATS server on all addresses of its host, which prints where each client comes from.
const natsRole = "test-nats"

func init() {
	child.Register(natsRole, func(context.Context, []string) error {
		s, err := server.NewServer(&server.Options{Host: "0.0.0.0", Port: 4222, NoLog: true, NoSigs: true, CustomClientAuthentication: gate{}})
		if err != nil {
			return err
		}
		s.Start()
		if !s.ReadyForConnections(time.Minute) {
			return errors.New("the server is not ready")
		}
		fmt.Println("ready")
		s.WaitForShutdown()
		return nil
	})
}

type gate struct{}

func (gate) Check(client server.ClientAuthentication) bool {
	host, _, _ := net.SplitHostPort(client.RemoteAddress().String())
	fmt.Println("client from", host)
	return true
}

// program is a program on a host of a test, with what it printed. It ends with the test.
type program struct {
	fleet
	process *child.Process
	mu      sync.Mutex
	text    strings.Builder
}

func (p *program) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// await returns when it has printed the text.
func (p *program) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.said(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %q in %s", text, p.said())
		}
	}
}

// exitCode waits for its end.
func (p *program) exitCode() int {
	<-p.process.Done()
	return p.command.ProcessState.ExitCode()
}

// start runs this program on a host whose clock is so many seconds ahead.
func (n network) start(host string, ahead int, arguments ...string) *program {
	n.t.Helper()
	p := &program{fleet: fleet{temp: n.t.TempDir(), out: filepath.Join(n.t.TempDir(), "report")}}
	p.command = p.program(arguments...)
	p.command.Stdout, p.command.Stderr = p, p
	n.on(host, ahead, p.command)
	var err error
	if p.process, err = child.Start(p.command); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = p.process.Kill()
		p.awaitNone(n.t)
	})
	return p
}

// site is a broker, a coordinator's host and two agents' hosts, each a network namespace.
type site struct {
	network
	folder      string // of the credentials
	broker      *program
	first, last *program // agents
}

const (
	firstAgent, lastAgent = "10.77.0.3", "10.77.0.4"
	secondAddress         = "10.77.0.13" // of the first agent
	lastAhead             = 1_000_000    // seconds of the last agent's clock
)

func newSite(t *testing.T) site {
	t.Helper()
	s := site{folder: t.TempDir(), network: newNetwork(t, map[string][]string{
		"broker": {"10.77.0.1"}, "coordinator": {"10.77.0.2"}, "first": {firstAgent, secondAddress}, "last": {lastAgent},
	})}
	if _, err := certificates.Write(s.folder, firstAgent, lastAgent); err != nil {
		t.Fatal(err)
	}
	s.broker = s.start("broker", 0, natsRole)
	s.first = s.start("first", 0, "agent", "--certificates", filepath.Join(s.folder, firstAgent), "--sources", firstAgent+","+secondAddress)
	s.last = s.start("last", lastAhead, "agent", "--certificates", filepath.Join(s.folder, lastAgent))
	s.broker.await(t, "ready")
	s.first.await(t, "for each of 2 source addresses")
	s.last.await(t, "for each of 1 source address")
	return s
}

// coordinate starts a fleet on both agents.
func (s site) coordinate(duration string) *program {
	return s.start("coordinator", 0, "run", "--url", "nats://10.77.0.1", "--generators", "31", "--interval", "500ms",
		"--set", "initial_sleep=[0s, 500ms]", "--duration", duration, "--set", "workers=2", "--out", filepath.Join(s.folder, "report"),
		"--agents", firstAgent+":7070,"+lastAgent+":7070", "--certificates", filepath.Join(s.folder, "coordinator"), "--repeat", "0")
}

func TestAFleetOnTwoHostsIsTheSumOfBoth(t *testing.T) {
	systemtest.Mark(t)
	s := newSite(t)
	run := s.coordinate("3s")
	if code := run.exitCode(); code != 0 {
		t.Fatalf("exit code %d: %s", code, run.said())
	}
	found, err := report.Read(filepath.Join(s.folder, "report"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Hosts) != 2 || found.Hosts[0].Generators+found.Hosts[1].Generators != 31 || found.Counts.Connections != 31 {
		t.Fatalf("hosts %+v, counts %+v", found.Hosts, found.Counts)
	}
	var sum result.Counts
	var trips int64
	for _, h := range found.Hosts {
		sum.Sent, sum.Received = sum.Sent+h.Counts.Sent, sum.Received+h.Counts.Received
		trips += h.RTT.Count
		if h.Counts.Received == 0 || h.Counts.Received != h.Counts.Sent || h.Workers != 2 || h.Machine != found.Hosts[0].Machine {
			t.Errorf("%+v", h)
		}
		if h.Resources.Client.Processes != 3 || h.Resources.Client.PeakRSS == 0 {
			t.Errorf("its gauges: %+v", h.Resources)
		}
	}
	if c := found.Counts; c.Sent != sum.Sent || c.Received != sum.Received || found.Times.RTT.Count != trips || c.Lost+c.Foreign+c.Duplicated > 0 {
		t.Errorf("%+v are not the sum of the hosts': %+v", c, sum)
	}
	if b := found.Broker; !b.Compared && b.Sentence == "" {
		t.Error("nothing is said of the broker's counters")
	}
	for i, ahead := range []int64{0, lastAhead * 1e9} {
		for _, offset := range []result.Offset{found.Hosts[i].ClockBegin, found.Hosts[i].ClockEnd} {
			if wrong := max(offset.Nanos-ahead, ahead-offset.Nanos); wrong > offset.Error || offset.Error > int64(time.Second) {
				t.Errorf("host %d is %d ns ahead ± %d ns, not %d", i, offset.Nanos, offset.Error, ahead)
			}
		}
	}
	if seconds := len(found.Timeline); seconds < 3 || seconds > 60 {
		t.Errorf("a timeline of %d s", seconds)
	}
	froms := s.broker.said()
	for _, from := range []string{firstAgent, secondAddress, lastAgent} {
		if count := strings.Count(froms, "client from "+from+"\n"); count < 7 {
			t.Errorf("%d connections come from %s", count, from)
		}
	}
	if strings.Count(s.first.said(), "is over: its coordinator has closed it") != 1 {
		t.Errorf("the agent says %s", s.first.said())
	}
}

func TestALostAgentEndsTheRunWithItsNameAndLeavesNothing(t *testing.T) {
	systemtest.Mark(t)
	for name, lose := range map[string]func(site){
		"killed":    func(s site) { _ = s.first.process.Kill() },
		"ended":     func(s site) { _ = s.first.process.Signal(syscall.SIGTERM) },
		"unplugged": func(s site) { s.unplug("first") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			run := s.coordinate("10m")
			run.await(t, "measuring")
			lose(s)
			began := time.Now()
			if code := run.exitCode(); code != 1 || !strings.Contains(run.said(), "agent "+firstAgent+":7070 ended before its result") {
				t.Errorf("exit code %d: %s", code, run.said())
			}
			t.Logf("after %v", time.Since(began))
			run.awaitNone(t)
			for agent, left := range map[*program]int{s.first: map[string]int{"unplugged": 1}[name], s.last: 2} { // unshare and itself
				agent.awaitProcesses(t, left)
			}
		})
	}
}

func TestACoordinatorsEndIsTheEndOfItsWorkersEverywhere(t *testing.T) {
	systemtest.Mark(t)
	for name, end := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			run := s.coordinate("10m")
			run.await(t, "measuring")
			if err := run.process.Signal(end); err != nil {
				t.Fatal(err)
			}
			if code := run.exitCode(); code == 0 {
				t.Errorf("exit code 0: %s", run.said())
			}
			s.first.awaitProcesses(t, 1)
			s.last.awaitProcesses(t, 2)
			if name == "killed" {
				return
			}
			found, err := report.Read(filepath.Join(s.folder, "report"))
			if err != nil {
				t.Fatal(err)
			}
			if c := found.Counts; !found.Partial || found.Failure != nil || c.Sent == 0 || c.Received != c.Sent || len(found.Hosts) != 2 {
				t.Errorf("partial %t, failure %v, %+v", found.Partial, found.Failure, c)
			}
			next := s.coordinate("1s") // agents serve again
			if code := next.exitCode(); code != 0 {
				t.Errorf("the next run: exit code %d: %s", code, next.said())
			}
		})
	}
}
