// Package jarstest fetches Kafka's jars for tests that start a Kafka.
package jarstest

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Install fetches the jars where they are not there yet, by the repository's own script; callers wait for each other. Needed
// before broker.Start, wherever nothing else of the repository may have started a Kafka on this machine.
func Install() error {
	_, here, _, known := runtime.Caller(0)
	if !known {
		return errors.New("this test program does not know where its sources are")
	}
	script := filepath.Join(filepath.Dir(here), "../../scripts/broker")
	if said, err := exec.Command(script, "install", "kafka").CombinedOutput(); err != nil {
		return fmt.Errorf("fetching Kafka: %w: %s", err, said)
	}
	return nil
}
