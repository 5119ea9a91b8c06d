// Package demo runs the demo with few files.
package demo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const limit = 10 * time.Minute // a demo starts nine JVMs, one after the other

func startDemo(t *testing.T, output string, settings ...string) *harness.Process {
	t.Helper()
	return startExample(t, "remote-copy", output, settings...)
}

func startExample(t *testing.T, name, output string, settings ...string) *harness.Process {
	t.Helper()
	program := filepath.Join(harness.Root(), "examples", name, "demo")
	demo := harness.Start(t, append(settings, "OUTPUT="+output, "JAVA_TOOL_OPTIONS="+harness.QuickJava), program)
	t.Cleanup(func() { // a demo that is killed cannot stop its broker
		demo.Terminate()
		for deadline := time.Now().Add(time.Minute); demo.Running() && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
	})
	return demo
}

var (
	began      = time.Now()
	balanced   = regexp.MustCompile(`(?m)^ledger: emitted=(\d+) archived=(\d+) in_flight=0 dropped=0 missing=0 duplicated=0$`)
	bottleneck = regexp.MustCompile(`(?m)^bottleneck: .*`)
	alert      = regexp.MustCompile(`(?m)^  (?:on|off) +bottleneck +program=remote-copy .*`)
)

// runDemo runs a demo to its end, and returns its output.
func runDemo(t *testing.T, output string, settings ...string) string {
	t.Helper()
	demo := startDemo(t, output, settings...)
	if code := demo.Wait(t, limit); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, demo.Stdout(), demo.Stderr())
	}
	ledger := balanced.FindStringSubmatch(demo.Stdout())
	if ledger == nil || ledger[1] != ledger[2] || ledger[1] == "0" {
		t.Errorf("wrong books: no balanced ledger of some events in:\n%s", demo.Stdout())
	}
	for _, part := range []string{"disk.read", "net.send", "net.receive", "disk.write", "\nbottleneck: "} {
		if !strings.Contains(demo.Stdout(), part) {
			t.Errorf("%q is missing in:\n%s", part, demo.Stdout())
		}
	}
	if answers := strings.Count(demo.Stdout(), "  sql> SELECT"); answers != 3 {
		t.Errorf("%d SQL queries instead of 3", answers)
	}
	if picture, err := os.ReadFile(filepath.Join(output, "lifelines.svg")); err != nil || !strings.Contains(string(picture), "<svg") {
		t.Errorf("no picture: %v", err)
	}
	expectPage(t, demo.Stdout(), output, !slices.Contains(settings, "PICTURE=no"))
	expectNothingLeft(t, demo, output)
	return demo.Stdout()
}

var page = regexp.MustCompile(`(?m)^page: +http://(127\.0\.0\.1:\d+)/ while this runs: build/emitter/bin/lifeline view --listen (127\.0\.0\.1:\d+) (.+)$`)

// expectPage checks that the demo says how to open its page again, and that there is a picture of it where one is wanted and there is
// a browser.
func expectPage(t *testing.T, said, output string, pictured bool) {
	t.Helper()
	if again := page.FindStringSubmatch(said); again == nil || again[1] != again[2] || again[3] != output+"/data/archive" {
		t.Errorf("how to open the page again is %q in:\n%s", again, said)
	}
	picture, err := os.ReadFile(filepath.Join(output, "page.png"))
	if !pictured {
		if err == nil {
			t.Error("a picture that is not wanted was taken")
		}
	} else if _, none := exec.LookPath("chromium"); none != nil {
		if !strings.Contains(said, "no picture of the page: chromium is not installed") {
			t.Errorf("the missing picture is not explained:\n%s", said)
		}
	} else if err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
		t.Errorf("no picture of the page: %v\n%s", err, said)
	}
}

// The slow step takes 4 MB/s, a hundredth of what the other ones do, so that a busy machine does not make one of those the
// slowest. Files are copied from memory to memory: a disk may be that slow.
func TestTheDemoNamesTheStepThatWasSlowedDown(t *testing.T) {
	harness.System(t)
	files := harness.MemoryDir(t)
	for range 4 {
		harness.RandomFileIn(t, files, 8_000_000)
	}
	for _, demo := range []struct{ broker, slow, stages, picture string }{
		{"nats", "disk-write", "disk-write|disk.write", "yes"}, {"kafka", "network", "network", "no"},
	} {
		t.Run(demo.slow+" on "+demo.broker, func(t *testing.T) {
			said := runDemo(t, harness.MemoryDirFor(t, 1<<30), "BROKER="+demo.broker, "SLOW="+demo.slow, "SLOW_MB_PER_S=4",
				"SIZE=32M", "FROM="+files, "PICTURE="+demo.picture)
			answer := bottleneck.FindString(said)
			if !regexp.MustCompile(`^bottleneck: (` + demo.stages + `)\b`).MatchString(answer) {
				t.Errorf("slowed down was %s, the answer is %q:\n%s", demo.slow, answer, said)
			}
			alerts := alert.FindAllString(said, -1)
			if !strings.Contains(strings.Join(alerts, "\n"), " "+demo.slow+" ") {
				t.Errorf("slowed down was %s, told while the copy ran was %q:\n%s", demo.slow, alerts, said)
			}
		})
	}
}

var (
	unmodified = regexp.MustCompile(`(?m)^  on +bottleneck +session=[0-9a-f]{32} +disk-read .*`)
	allOfThem  = regexp.MustCompile(`(?m)^ledger: emitted=(\d+) archived=(\d+) dropped=0 missing=0$`)
)

// Three clients get a third of 4 MB/s each: a hundredth of what anything but the disk takes.
func TestTheDiskOfAnUnmodifiedServerIsFound(t *testing.T) {
	harness.System(t)
	for _, program := range []string{"vsftpd", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			if _, err := os.Stat("/usr/sbin/" + program); err != nil {
				t.Skip(program + " is not installed")
			}
		}
	}
	if disk, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skip(err)
	} else {
		disk.Close()
	}
	output := harness.MemoryDirFor(t, 1<<30)
	demo := startExample(t, "file-server", output, "READ=4", "SIZE=30M")
	if code := demo.Wait(t, limit); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, demo.Stdout(), demo.Stderr())
	}
	said := demo.Stdout()
	if !unmodified.MatchString(said) {
		t.Errorf("the disk is not named in:\n%s", said)
	}
	if ledger := allOfThem.FindStringSubmatch(said); ledger == nil || ledger[1] != ledger[2] || ledger[1] == "0" {
		t.Errorf("wrong books: no balanced ledger of some events in:\n%s", said)
	}
	if rows := regexp.MustCompile(`(?m)^  /\S+/slow/file[0-2] +\d+`).FindAllString(said, -1); len(rows) != 3 {
		t.Errorf("reads of %d files were switched on instead of 3:\n%s", len(rows), said)
	}
	expectPage(t, said, output, true)
	expectNothingLeft(t, demo, output)
}

func TestADemoThatCannotBeIsRefusedWithWhatToDo(t *testing.T) {
	harness.System(t)
	large := filepath.Dir(harness.RandomFile(t, 8_000_000))
	for setting, answer := range map[string]string{
		"FROM=/no/such/directory":    "FROM=/no/such/directory: no directory that can be read",
		"FROM=" + t.TempDir():        "no files over 64 KiB to be found in ",
		"FROM=" + large + " SIZE=1M": "is larger than 1M: choose a larger SIZE=",
		"SIZE=much":                  "SIZE=much: bytes, or a number with K, M or G",
	} {
		output := t.TempDir()
		demo := startDemo(t, output, strings.Fields(setting)...)
		if code := demo.Wait(t, limit); code == 0 || !strings.Contains(demo.Stderr(), answer) {
			t.Errorf("%s: exit code %d, stderr %q", setting, code, demo.Stderr())
		}
		expectNothingLeft(t, demo, output)
	}
}

func TestCtrlCEndsTheDemoAndLeavesNothingBehind(t *testing.T) {
	harness.System(t)
	output := t.TempDir()
	demo := startDemo(t, output, "SIZE=300M", "SLOW=disk-write")
	demo.WaitForOutput(t, limit, `(\[5/6\])`)
	for deadline := time.Now().Add(limit); !copied(output); time.Sleep(20 * time.Millisecond) {
		if !demo.Running() || time.Now().After(deadline) {
			t.Fatalf("nothing is copied\n%s%s", demo.Stdout(), demo.Stderr())
		}
	}
	demo.Interrupt()
	if code := demo.Wait(t, limit); code != 130 {
		t.Errorf("exit code %d after Ctrl-C\n%s", code, demo.Stderr())
	}
	expectNothingLeft(t, demo, output)
}

// copied reports whether part of a file has arrived.
func copied(output string) bool {
	roots, _ := filepath.Glob(output + "/work.*/copied")
	for _, root := range roots {
		found := false
		filepath.WalkDir(root, func(_ string, entry os.DirEntry, err error) error {
			found = found || err == nil && !entry.IsDir()
			return nil
		})
		if found {
			return true
		}
	}
	return false
}

func TestASecondDemoInTheSamePlaceIsRefusedWhileOneRuns(t *testing.T) {
	harness.System(t)
	output := t.TempDir()
	first := startDemo(t, output, "SIZE=300M", "SLOW=disk-write")
	first.WaitForOutput(t, limit, `(\[1/6\])`)
	second := startDemo(t, output)
	if code := second.Wait(t, limit); code != 1 || !strings.Contains(second.Stderr(), "another demo runs in "+output) {
		t.Errorf("exit code %d, stderr %q", code, second.Stderr())
	}
	first.Interrupt()
	first.Wait(t, limit)
	expectNothingLeft(t, first, output)
}

// expectNothingLeft looks for processes that name the demo's directory in their command lines, for its temporary files
// and for its rings.
func expectNothingLeft(t *testing.T, demo *harness.Process, output string) {
	t.Helper()
	for _, pattern := range []string{output + "/work.*", fmt.Sprintf("/dev/shm/lifeline-demo-%d.*", demo.PID())} {
		found, _ := filepath.Glob(pattern)
		for _, left := range found { // a demo of another day may have had the same pid, and been killed
			if info, err := os.Stat(left); err == nil && info.ModTime().After(began) {
				t.Errorf("left behind: %s", left)
			}
		}
	}
	var running []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if running = processesThatName(output + "/"); len(running) == 0 {
			return
		}
	}
	t.Errorf("still running: %q", running)
}

func processesThatName(text string) []string {
	var found []string
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, path+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
