// Package copy tests the example application as a copy program: whole files or a clear error, and nothing outside of
// the directory that it was given.
package copy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const limit = 3 * time.Minute

func send(t *testing.T, arguments ...string) *harness.Process {
	t.Helper()
	return harness.Start(t, nil, harness.Program(t, "remote-copy-plain"), append([]string{"send"}, arguments...)...)
}

func TestFilesOfAnySizeArriveAsTheyWereSent(t *testing.T) {
	harness.System(t)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil)
	var files []string
	for _, bytes := range []int{0, 1, 4095, 4096, 4097, 262143, 262144, 262145, 3 << 20} {
		files = append(files, harness.RandomFile(t, bytes))
	}
	for _, io := range []string{"direct", "buffered"} {
		sender := send(t, append([]string{"--to", server.Address, "--io", io}, files...)...)
		if code := sender.Wait(t, limit); code != 0 {
			t.Fatalf("--io %s: exit code %d: %s", io, code, sender.Stderr())
		}
		for _, file := range files {
			server.Has(t, file)
		}
	}
}

func TestManySendersAreServedAtTheSameTime(t *testing.T) {
	harness.System(t)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil)
	files := make([]string, 8)
	senders := make([]*harness.Process, len(files))
	for i := range files {
		files[i] = harness.RandomFile(t, 1<<20+i)
		senders[i] = send(t, "--to", server.Address, files[i])
	}
	for i, sender := range senders {
		if code := sender.Wait(t, limit); code != 0 {
			t.Errorf("sender %d: exit code %d: %s", i, code, sender.Stderr())
		}
		server.Has(t, files[i])
	}
}

func TestACommandThatFailsOnTheWayToDiskFailsTheCopyAndLeavesNoFile(t *testing.T) {
	harness.System(t)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil, "--through", "head -c 1000; exit 3")
	sender := send(t, "--to", server.Address, harness.RandomFile(t, 64<<20))
	if code := sender.Wait(t, limit); code != 1 || !strings.Contains(sender.Stderr(), "the receiver refused") {
		t.Errorf("exit code %d, stderr %q", code, sender.Stderr())
	}
	server.IsEmpty(t)
}

func TestEachFileGoesThroughTheCommand(t *testing.T) {
	harness.System(t)
	server := harness.StartCopyServer(t, "remote-copy-plain", nil, "--through", "tr a-z A-Z")
	file := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(file, []byte("a block\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := send(t, "--to", server.Address, file).Wait(t, limit); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if got, err := os.ReadFile(filepath.Join(server.Into, file)); err != nil || string(got) != "A BLOCK\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAServerThatIsStoppedInTheMiddleLeavesNoPartOfAFile(t *testing.T) {
	harness.System(t)
	throttle := harness.Program(t, "throttle") + " pipe --rate 1"
	server := harness.StartCopyServer(t, "remote-copy-plain", nil, "--through", throttle)
	sender := send(t, "--to", server.Address, harness.RandomFile(t, 100<<20))
	server.WaitForAPart(t)
	server.Terminate()
	const lessThanTheRest = 50 * time.Second // which would take 100 s
	if code := sender.Wait(t, lessThanTheRest); code != 1 || !strings.Contains(sender.Stderr(), "the server was stopped") {
		t.Errorf("the sender's exit code is %d, its stderr %q", code, sender.Stderr())
	}
	if code := server.Wait(t, limit); code != 1 {
		t.Errorf("the server's exit code is %d: a transfer failed", code)
	}
	server.IsEmpty(t)
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	harness.System(t)
	file := harness.RandomFile(t, 10)
	for _, example := range []struct {
		code      int
		arguments []string
		message   string
	}{
		{2, []string{"--to", "127.0.0.1:1"}, "send needs files"},
		{2, []string{file}, "send needs --to HOST:PORT"},
		{2, []string{"--to", "127.0.0.1:1", "--block", "1000", file}, "--block takes a number from 4096"},
		{2, []string{"--to", "127.0.0.1:1", "--colour", file}, "send has no option --colour"},
		{1, []string{"--to", "127.0.0.1:1", "/no/such/file"}, "cannot send /no/such/file: No such file or directory"},
		{1, []string{"--to", "127.0.0.1:1", "/tmp"}, "cannot send /tmp: not a regular file"},
		{1, []string{"--to", "127.0.0.1:1", file}, "cannot connect to 127.0.0.1:1: Connection refused"},
		{1, []string{"--to", "nowhere", file}, "nowhere is not HOST:PORT"},
	} {
		sender := send(t, example.arguments...)
		code := sender.Wait(t, limit)
		lines := strings.Count(sender.Stderr(), "\n")
		if code != example.code || lines != 1 || !strings.Contains(sender.Stderr(), example.message) {
			t.Errorf("send %v: exit code %d, stderr %q; want %d and one line with %q", example.arguments, code,
				sender.Stderr(), example.code, example.message)
		}
	}
}
