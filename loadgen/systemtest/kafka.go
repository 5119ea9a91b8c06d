package systemtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// InstallKafka fetches Kafka's jars if they are missing, with the repository's own script; concurrent callers wait for each other.
// A test must call it before broker.Start. It also disables the optimising compiler of the Java machines that this process
// starts: a broker that lives for seconds costs a third less processor time without it.
func InstallKafka() error {
	if err := os.Setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1"); err != nil {
		return err
	}
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
