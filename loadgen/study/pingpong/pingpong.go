// Package pingpong measures round trips with a bare client library, as a baseline for the fleet's.
package pingpong

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/child"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/host"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	_ "lifeline/loadgen/transports" // whose names scenarios use
	"lifeline/loadgen/workdir"
)

const (
	subject        = "pingpong"
	messageTimeout = 5 * time.Second // of one message; then the run fails
)

// role is the bare client's, of package child. Like a worker it has its own process, which sleeps between messages.
const role = "pingpong"

func init() {
	child.Register(role, func(ctx context.Context, _ []string) error { return serve(ctx, os.Stdin, os.Stdout) })
}

// task is the input of the client's process, score its output.
type (
	task struct {
		Server             string
		Interval, Duration time.Duration
		Seed               uint64
	}
	score struct {
		Counts                     result.Counts
		RTT, ServiceTime, Lateness measure.Recorder
	}
)

// Run publishes one message at a time on the scenario's embedded NATS server, at its interval and for its duration, by the
// ordinary client and with two connections, and waits for each message before it sends the next. Main must begin with child.Play.
func Run(ctx context.Context, s scenario.Scenario) (result.Result, error) {
	found := result.Result{Format: result.Format, Scenario: s, Started: time.Now(), Machine: host.Machine(), Client: "nats.go " + nats.Version + ", bare"}
	folder, err := workdir.New("")
	if err != nil {
		return found, err
	}
	defer folder.Remove()
	cluster, err := broker.Start(ctx, s, folder.Path)
	if err != nil {
		return found, err
	}
	defer cluster.Close(context.WithoutCancel(ctx))
	var player atomic.Int64
	watch, err := host.Start(time.Second, cluster.Processes, func() []int { return []int{int(player.Load())} })
	if err != nil {
		return found, err
	}
	watch.Measure()
	scored, err := ask(ctx, task{cluster.Servers()[0], s.Interval.Duration, s.Duration.Duration, s.Seed}, &player)
	found.Counts, found.Times.RTT, found.Times.ServiceTime = scored.Counts, scored.RTT.Distribution(), scored.ServiceTime.Distribution()
	found.Times.Lateness = scored.Lateness.Distribution()
	found.Resources, found.Noise = watch.Stop(found.Counts.Connections)
	found.Invalid = host.Judge(found.Noise, found.Times.Lateness)
	found.Valid = len(found.Invalid) == 0
	found.Elapsed = time.Since(found.Started)
	return found, err
}

// ask runs the client in a process and stores its id in player.
func ask(ctx context.Context, g task, player *atomic.Int64) (scored score, err error) {
	var told, answer, complaint bytes.Buffer
	if err := gob.NewEncoder(&told).Encode(g); err != nil {
		return scored, err
	}
	command := child.Command(ctx, role)
	command.Stdin, command.Stdout, command.Stderr = &told, &answer, &complaint
	if err := command.Start(); err != nil {
		return scored, fmt.Errorf("starting the bare client: %w", err)
	}
	player.Store(int64(command.Process.Pid))
	if err := command.Wait(); err != nil {
		return scored, fmt.Errorf("the bare client: %w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	if err := gob.NewDecoder(&answer).Decode(&scored); err != nil {
		return scored, fmt.Errorf("reading what the bare client found: %w", err)
	}
	return scored, nil
}

// serve runs the task read from in and writes the score to out.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var g task
	if err := gob.NewDecoder(in).Decode(&g); err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	var scored score
	if err := g.play(ctx, &scored); err != nil {
		return err
	}
	return gob.NewEncoder(out).Encode(&scored)
}

func (g task) play(ctx context.Context, scored *score) error {
	counts := &scored.Counts
	publisher, err := nats.Connect("nats://" + g.Server)
	if err != nil {
		return fmt.Errorf("connecting the publisher: %w", err)
	}
	defer publisher.Close()
	subscriber, err := nats.Connect("nats://" + g.Server)
	if err != nil {
		return fmt.Errorf("connecting the subscriber: %w", err)
	}
	defer subscriber.Close()
	arrived := make(chan int64, 1)
	if _, err := subscriber.Subscribe(subject, func(*nats.Msg) { arrived <- clock.Now() }); err != nil {
		return fmt.Errorf("subscribing: %w", err)
	}
	if err := subscriber.FlushTimeout(messageTimeout); err != nil {
		return fmt.Errorf("subscribing: %w", err)
	}
	payload, err := message.NewRaw(1, g.Seed).Build(message.Identity{})
	if err != nil {
		return err
	}
	counts.Connections = 2
	waiter, err := clock.NewWaiter()
	if err != nil {
		return err
	}
	defer waiter.Close()
	timeout := time.NewTimer(messageTimeout)
	begin := clock.Now()
	end := begin + int64(g.Duration)
	for next := begin; next < end && ctx.Err() == nil; next += int64(g.Interval) {
		waiter.WaitUntil(next)
		timeout.Reset(messageTimeout)
		before := clock.Now()
		scored.Lateness.Record(before - next)
		if err := publisher.Publish(subject, payload); err != nil {
			return fmt.Errorf("publishing: %w", err)
		}
		counts.Sent++
		select {
		case at := <-arrived:
			counts.Received++
			scored.RTT.Record(at - next)
			scored.ServiceTime.Record(at - before)
		case <-timeout.C:
			counts.Lost++
			return fmt.Errorf("a message did not come back within %s", messageTimeout)
		}
	}
	return nil
}
