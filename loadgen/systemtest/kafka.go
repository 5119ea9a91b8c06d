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
// starts, and gives them the classes that the script keeps ready: a broker that lives for seconds costs half the processor time so.
func InstallKafka() error {
	_, here, _, known := runtime.Caller(0)
	if !known {
		return errors.New("this test program does not know where its sources are")
	}
	root := filepath.Join(filepath.Dir(here), "../..")
	if said, err := exec.Command(filepath.Join(root, "scripts/broker"), "install", "kafka").CombinedOutput(); err != nil {
		return fmt.Errorf("fetching Kafka: %w: %s", err, said)
	}
	options := "-XX:TieredStopAtLevel=1"
	// One per JVM that was ever used here: which is this one's, only the script knows.
	if classes, err := filepath.Glob(filepath.Join(root, "build/deps/kafka/classes-*.jsa")); err == nil && len(classes) == 1 {
		options += " -XX:SharedArchiveFile=" + classes[0]
	}
	return os.Setenv("JAVA_TOOL_OPTIONS", options)
}
