// Package unharmed tests that no fault of the instrumentation affects the program.
package unharmed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const (
	secret = "hunter2-is-no-password"
	limit  = 3 * time.Minute
)

// What differs between two runs of the same copy even without instrumentation.
var incidental = regexp.MustCompile(`"transfer":"\d+"|"seconds":[\d.]+|"events_emitted":\d+`)

type result struct {
	code           int
	stdout, stderr string
}

// copyOnce copies a file with remote-copy, or with the form that was compiled without instrumentation.
func copyOnce(t *testing.T, program string, settings ...string) result {
	t.Helper()
	file := harness.RandomFile(t, 3<<20)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil)
	settings = append([]string{"LIFELINE_RING_DIR=" + harness.MemoryDir(t), "LIFELINE_FLUSH_TIMEOUT_MS=2000"}, settings...)
	sender := harness.Start(t, settings, harness.Program(t, program), "send", "--to", server.Address, "--json", file)
	code := sender.Wait(t, limit)
	server.Has(t, file)
	return result{code, incidental.ReplaceAllString(sender.Stdout(), ""), sender.Stderr()}
}

// deadPort is one that nobody listens on, nor can until the test ends: it is bound.
func deadPort(t *testing.T) string {
	t.Helper()
	descriptor, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(descriptor) })
	if err := syscall.Bind(descriptor, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(descriptor)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

// What the library adds at exit when events are left: where they are. It is no complaint of its own.
var farewell = regexp.MustCompile(`(?m)^lifeline: warning: .*not acknowledged yet.*they are kept in .*\n`)

// expectUnharmed compares with the program that has no instrumentation in it, and wants one line on stderr that
// matches.
func expectUnharmed(t *testing.T, complaint string, settings ...string) {
	t.Helper()
	without := copyOnce(t, "remote-copy-plain")
	with := copyOnce(t, "remote-copy", settings...)
	if farewell.MatchString(with.stderr) && farewell.ReplaceAllString(with.stderr, "") == "" {
		// The copy and its flush were over before a busy broker had said what is wrong: wait longer for it.
		with = copyOnce(t, "remote-copy", append(slices.Clone(settings), "LIFELINE_FLUSH_TIMEOUT_MS=60000")...)
	}
	if with.code != 0 || with.code != without.code || with.stdout != without.stdout {
		t.Errorf("exit code %d and output %q, without instrumentation %d and %q", with.code, with.stdout, without.code,
			without.stdout)
	}
	complaints := farewell.ReplaceAllString(with.stderr, "")
	lines := strings.Split(strings.TrimSuffix(complaints, "\n"), "\n")
	if len(lines) != 1 || !regexp.MustCompile(`^lifeline: .*(`+complaint+`)`).MatchString(lines[0]) {
		t.Errorf("stderr should be one line with %q, but is:\n%s", complaint, with.stderr)
	}
	if strings.Contains(with.stderr, secret) {
		t.Errorf("stderr tells the password: %s", with.stderr)
	}
}

func TestAProgramWithABadURLRunsOn(t *testing.T) {
	harness.System(t)
	expectUnharmed(t, "LIFELINE_URL|url|URL", "LIFELINE_URL=no-url-at-all")
}

func TestAProgramWithABadSettingRunsOn(t *testing.T) {
	harness.System(t)
	expectUnharmed(t, "LIFELINE_BATCH_BYTES", "LIFELINE_URL=null:", "LIFELINE_BATCH_BYTES=many")
}

func TestAProgramWithoutItsSinkRunsOn(t *testing.T) {
	harness.System(t)
	expectUnharmed(t, "pigeon", "LIFELINE_URL=pigeon://127.0.0.1:1")
}

func TestAProgramWithoutThePluginOfItsSinkRunsOn(t *testing.T) {
	harness.System(t)
	expectUnharmed(t, "nats", "LIFELINE_URL=nats://127.0.0.1:1", "LIFELINE_PLUGIN_DIR="+t.TempDir())
}

func TestAProgramThatMayNotWriteItsRingsRunsOn(t *testing.T) {
	harness.System(t)
	file := filepath.Join(t.TempDir(), "a-file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectUnharmed(t, "crash-safe|ring", "LIFELINE_URL=null:", "LIFELINE_RING_DIR="+file)
}

func TestAProgramWhoseBrokerCannotBeReachedRunsOn(t *testing.T) {
	harness.System(t)
	for _, kind := range harness.Brokers {
		t.Run(kind, func(t *testing.T) {
			address := deadPort(t)
			expectUnharmed(t, regexp.QuoteMeta(address), "LIFELINE_URL="+kind+"://somebody:"+secret+"@"+address)
		})
	}
}
