// Package pingpong measures round trips with nothing but a client library: what a fleet's own figures are held against.
package pingpong

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/clock"
	"lifeline/loadgen/host"
	"lifeline/loadgen/measure"
	"lifeline/loadgen/message"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
)

const (
	subject  = "pingpong"
	patience = 5 * time.Second // for one message; beyond it, the run is over
)

// Run publishes one message at a time on the scenario's embedded NATS server, at its interval and for its duration, by the
// ordinary client and with two connections, and waits for each message before it sends the next.
func Run(ctx context.Context, s scenario.Scenario) (result.Result, error) {
	found := result.Result{Format: 1, Scenario: s, Started: time.Now(), Machine: host.Machine(), Client: "nats.go " + nats.Version + ", bare"}
	dir, err := os.MkdirTemp("", "pingpong-")
	if err != nil {
		return found, fmt.Errorf("making a folder for the run: %w", err)
	}
	defer os.RemoveAll(dir)
	cluster, err := broker.Start(ctx, s, dir)
	if err != nil {
		return found, err
	}
	defer cluster.Close(context.WithoutCancel(ctx))
	watch, err := host.Start(time.Second, cluster.Processes, func() []int { return nil })
	if err != nil {
		return found, err
	}
	var rtt measure.Recorder
	found.Counts, err = play(ctx, s, cluster.Servers()[0], watch, &rtt)
	found.Resources, found.Noise = watch.Stop(found.Counts.Connections)
	found.Times.RTT = rtt.Distribution()
	found.Invalid = host.Judge(found.Machine.Cores, found.Noise, result.Distribution{})
	found.Valid = len(found.Invalid) == 0
	found.Elapsed = time.Since(found.Started)
	return found, err
}

func play(ctx context.Context, s scenario.Scenario, server string, watch *host.Watch, rtt *measure.Recorder) (counts result.Counts, err error) {
	publisher, err := nats.Connect("nats://" + server)
	if err != nil {
		return counts, fmt.Errorf("connecting the publisher: %w", err)
	}
	defer publisher.Close()
	subscriber, err := nats.Connect("nats://" + server)
	if err != nil {
		return counts, fmt.Errorf("connecting the subscriber: %w", err)
	}
	defer subscriber.Close()
	arrived := make(chan int64, 1)
	if _, err := subscriber.Subscribe(subject, func(*nats.Msg) { arrived <- clock.Now() }); err != nil {
		return counts, fmt.Errorf("subscribing: %w", err)
	}
	if err := subscriber.FlushTimeout(patience); err != nil {
		return counts, fmt.Errorf("subscribing: %w", err)
	}
	payload, err := message.NewRaw(1, s.Seed).Build(message.Identity{})
	if err != nil {
		return counts, err
	}
	counts.Connections = 2
	watch.Measure()
	runtime.LockOSThread() // for SleepUntil
	defer runtime.UnlockOSThread()
	timeout := time.NewTimer(patience)
	begin := clock.Now()
	end := begin + int64(s.Duration.Duration)
	for next := begin; next < end && ctx.Err() == nil; next += int64(s.Interval.Duration) {
		clock.SleepUntil(next)
		timeout.Reset(patience)
		before := clock.Now()
		if err := publisher.Publish(subject, payload); err != nil {
			return counts, fmt.Errorf("publishing: %w", err)
		}
		counts.Sent++
		select {
		case at := <-arrived:
			counts.Received++
			rtt.Record(at - before)
		case <-timeout.C:
			counts.Lost++
			return counts, fmt.Errorf("a message did not come back within %s", patience)
		}
	}
	return counts, nil
}
