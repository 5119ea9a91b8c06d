package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

var (
	// ErrUsage is a mistake in the arguments, which has been printed.
	ErrUsage = errors.New("usage")
	// ErrReported is a failure that has been reported.
	ErrReported = errors.New("reported")
	// ErrDisputed is a result, which has been reported, whose counts are incomplete or differ from the broker's.
	ErrDisputed = errors.New("disputed")
)

// UntilStopped is a context that ends with the signals that end a run early, with its report; the second one ends the program at
// once.
func UntilStopped() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it, for runs that outlive their terminal
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Code is the exit code for how a command ended, and prints its error: 0 success, 1 failure, 2 usage error, 3 a disputed result.
func Code(name string, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrUsage):
		return 2
	case errors.Is(err, ErrReported):
		return 1
	case errors.Is(err, ErrDisputed):
		return 3
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	return 1
}
