package derived

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lifeline/loadgen/child"
)

// Variables that name the programs of the repository which are no part of this one.
const (
	SetupVariable = "LIFELINE_SETUP"
	JobsVariable  = "LIFELINE_JOBS"
)

// jobs is `lifeline-jobs run`.
type jobs struct{ *child.Process }

// startJobs makes streams and buckets, starts the jobs and returns when they are ready.
func startJobs(ctx context.Context, url, dir string) (*jobs, error) {
	setup, program := os.Getenv(SetupVariable), os.Getenv(JobsVariable)
	if _, err := exec.LookPath(setup); err != nil {
		return nil, missing(SetupVariable, "lifeline-setup")
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, missing(JobsVariable, "lifeline-jobs")
	}
	if out, err := exec.CommandContext(ctx, setup, "--url", url, "--retention", "1h").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("lifeline-setup: %w: %s", err, strings.TrimSpace(string(out)))
	}
	log, err := os.Create(filepath.Join(dir, "jobs.log"))
	if err != nil {
		return nil, fmt.Errorf("making a log for lifeline-jobs: %w", err)
	}
	defer log.Close()
	command := exec.CommandContext(ctx, program, "run", "--set", "broker.url="+url, "--set", "jobs=filter,summarise",
		"--set", "filter.all=generator >= 0", "--set", "summarise.window=1s", "--set", "state.dir="+filepath.Join(dir, "jobs"))
	command.Stderr = log
	said, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting lifeline-jobs: %w", err)
	}
	process, err := child.Start(command)
	if err != nil {
		return nil, err
	}
	j := &jobs{process}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "ready:") {
			return j, nil
		}
	}
	j.stop()
	return nil, fmt.Errorf("%w: %s", errNotReady, strings.Join(child.Tail(log.Name(), 5), "\n"))
}

// stop ends the jobs gracefully, or kills them.
func (j *jobs) stop() {
	const stopTimeout = 10 * time.Second
	_ = j.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(stopTimeout, func() { _ = j.Signal(syscall.SIGKILL) })
	defer kill.Stop()
	<-j.Done() // its exit code after SIGTERM says nothing about the measurement
}
