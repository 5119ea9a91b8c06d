// Package dev tests lifeline-dev with its real parts.
package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifeline/tests/harness"
)

const limit = 3 * time.Minute

// minimalEvents is what the smallest example emits.
const minimalEvents = 2000

// dev is a lifeline-dev that answers.
type dev struct {
	*harness.Process
	URL  string
	Page string
	PIDs map[string]int

	temporary string // parent of its temporary folder
}

func launch(t *testing.T, temporary string, arguments ...string) *harness.Process {
	t.Helper()
	settings := []string{"TMPDIR=" + temporary, "LIFELINE_JOBS_JAVA_OPTS=" + harness.QuickJava, "LIFELINE_CONSOLE_JAVA_OPTS=" + harness.QuickJava,
		"LIFELINE_USER=of-another-broker"} // which the embedded one must not be given
	return harness.Start(t, settings, harness.Program(t, "lifeline-dev"), arguments...)
}

func start(t *testing.T, arguments ...string) *dev {
	t.Helper()
	d := &dev{temporary: t.TempDir()}
	d.Process = launch(t, d.temporary, append(arguments, "--json")...)
	line := d.WaitForOutput(t, limit, `(?m)^(\{.*\})$`)
	if err := json.Unmarshal([]byte(line), d); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return d
}

// emit runs the smallest example.
func (d *dev) emit(t *testing.T) {
	t.Helper()
	harness.Run(t, limit, []string{"LIFELINE_URL=" + d.URL, "LIFELINE_RING_DIR=" + harness.MemoryDir(t)}, harness.Program(t, "lifeline-minimal"))
}

// becomes asks the page until the answer is as wanted.
func (d *dev) becomes(t *testing.T, what, path, question string, wanted func(answer string) bool) {
	t.Helper()
	var answer string
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && d.Running(); time.Sleep(50 * time.Millisecond) {
		if answer = ask(d.Page+"api/v1"+path, question); wanted(answer) {
			return
		}
	}
	t.Fatalf("%s: the page says %s\n%s", what, answer, d.Stderr())
}

func ask(url, question string) string {
	method := http.MethodGet
	if question != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, url, strings.NewReader(question))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	var body json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return err.Error()
	}
	return string(body)
}

// shows waits until page and archive have the events.
func (d *dev) shows(t *testing.T, events int) {
	t.Helper()
	d.becomes(t, "events in the picture", "/status", "", func(answer string) bool {
		return strings.Contains(answer, fmt.Sprintf(`"events":%d,`, events)) && strings.Contains(answer, `"error":null`)
	})
	d.becomes(t, "events in the archive", "/sql", `{"sql":"SELECT count(*) FROM events"}`, func(answer string) bool {
		return strings.Contains(answer, fmt.Sprintf(`"rows":[[%d]]`, events))
	})
}

// ends waits for its end and checks that nothing is left of it.
func (d *dev) ends(t *testing.T, code int) {
	t.Helper()
	if ended := d.Wait(t, limit); ended != code {
		t.Errorf("exit code %d instead of %d\n%s", ended, code, d.Stderr())
	}
	d.nothingRuns(t)
	harness.IsEmpty(t, d.temporary)
}

// nothingRuns waits until the process group is empty. All parts are in that of lifeline-dev.
func (d *dev) nothingRuns(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if errors.Is(syscall.Kill(-d.PID(), 0), syscall.ESRCH) {
			return
		}
	}
	t.Errorf("parts still run: %v", d.PIDs)
}

func TestEventsOfTheSmallestExampleAppearInThePageAndCtrlCLeavesNothing(t *testing.T) {
	harness.System(t)
	d := start(t)
	for _, name := range []string{"lifeline-dev", "lifeline-jobs", "lifeline-console"} {
		if group, err := syscall.Getpgid(d.PIDs[name]); err != nil || group != d.PID() {
			t.Errorf("%s, process %d, is in group %d: %v", name, d.PIDs[name], group, err)
		}
	}
	d.emit(t)
	d.shows(t, minimalEvents)
	d.Interrupt()
	d.ends(t, 0)
	if d.Stderr() != "" {
		t.Errorf("it said %q", d.Stderr())
	}
}

func TestTheLinesForPeopleSayWhatToExport(t *testing.T) {
	harness.System(t)
	d := &dev{temporary: t.TempDir()}
	d.Process = launch(t, d.temporary, "--no-jobs")
	d.URL = d.WaitForOutput(t, limit, `(?m)^export LIFELINE_URL=(nats://127\.0\.0\.1:\d+)$`)
	d.Page = d.WaitForOutput(t, limit, `(?m)^page: (http://127\.0\.0\.1:\d+/)$`)
	d.emit(t)
	d.becomes(t, "events without jobs", "/status", "", func(answer string) bool { return strings.Contains(answer, `"events":2000,`) })
	d.Terminate()
	d.ends(t, 0)
}

// The first one ends when its page dies, the second one when its jobs do: each start takes 10 s of processor.
func TestKeptDataIsThereAgainAtTheNextStartAndAPartThatDiesEndsAllWithItsLastLines(t *testing.T) {
	harness.System(t)
	folder := filepath.Join(t.TempDir(), "kept")
	first := start(t, "--keep", folder)
	first.emit(t)
	first.shows(t, minimalEvents)
	rival := launch(t, t.TempDir(), "--keep", folder)
	if code := rival.Wait(t, limit); code != 1 || !strings.Contains(rival.Stderr(), "another lifeline-dev uses the directory") {
		t.Errorf("exit code %d of a second one in the same folder: %s", code, rival.Stderr())
	}
	first.endsWithItsPart(t, "lifeline-console")

	second := start(t, "--keep", folder)
	second.shows(t, minimalEvents)
	second.emit(t)
	second.shows(t, 2*minimalEvents)
	second.endsWithItsPart(t, "lifeline-jobs")
}

// endsWithItsPart kills one of its parts.
func (d *dev) endsWithItsPart(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Kill(d.PIDs[name], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.ends(t, 1)
	if said := d.Stderr(); !strings.Contains(said, "lifeline-dev: "+name+" has ended (signal: killed)") {
		t.Errorf("it said %q", said)
	}
}

func TestAFolderThatHoldsSomethingElseIsRefusedAndUntouched(t *testing.T) {
	harness.System(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "letter"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, 1, "the directory holds something else, such as letter", "--keep", folder)
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v: %v", entries, err)
	}
}

func TestWhatCannotBeIsRefusedWithWhatToDo(t *testing.T) {
	harness.System(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	refused(t, 1, fmt.Sprintf("--port: 127.0.0.1:%d is taken by another process", taken), "--port", strconv.Itoa(taken))
	refused(t, 1, fmt.Sprintf("--listen-page: 127.0.0.1:%d is taken by another process", taken), "--listen-page", fmt.Sprintf("127.0.0.1:%d", taken))
	refused(t, 1, "can be reached from other machines", "--listen-page", "0.0.0.0:0", "--no-jobs") // what the page said
	refused(t, 1, "lifeline-setup failed", "--broker", fmt.Sprintf("nats://127.0.0.1:%d", taken))
	refused(t, 2, "--port 70000", "--port", "70000")
	refused(t, 2, "HOST:PORT is expected", "--listen-page", "8080")
	refused(t, 2, "give one of them", "--port", "4222", "--broker", "nats://127.0.0.1:4222")
}

func refused(t *testing.T, code int, answer string, arguments ...string) {
	t.Helper()
	temporary := t.TempDir()
	process := launch(t, temporary, arguments...)
	if ended := process.Wait(t, limit); ended != code || !strings.Contains(process.Stderr(), answer) {
		t.Errorf("%q: exit code %d instead of %d, stderr %q", arguments, ended, code, process.Stderr())
	}
	harness.IsEmpty(t, temporary)
}

func TestNothingOutlivesAKilledOneAndTheNextOneRemovesItsData(t *testing.T) {
	harness.System(t)
	d := start(t)
	if err := syscall.Kill(d.PID(), syscall.SIGKILL); err != nil { // it alone
		t.Fatal(err)
	}
	d.Wait(t, limit)
	d.nothingRuns(t)
	next := launch(t, d.temporary, "--no-jobs", "--no-page", "--json")
	next.WaitForOutput(t, limit, `(?m)^(\{.*\})$`)
	next.Terminate()
	next.Wait(t, limit)
	harness.IsEmpty(t, d.temporary)
}

func TestItEndsWithTheProcessThatStartedIt(t *testing.T) {
	harness.System(t)
	d := &dev{temporary: t.TempDir()}
	script := fmt.Sprintf("'%s' --no-jobs --json & wait", harness.Program(t, "lifeline-dev"))
	d.Process = harness.Start(t, []string{"TMPDIR=" + d.temporary}, "/bin/sh", "-c", script)
	d.WaitForOutput(t, limit, `(?m)^(\{.*\})$`)
	if err := syscall.Kill(d.PID(), syscall.SIGKILL); err != nil { // the shell alone
		t.Fatal(err)
	}
	d.Wait(t, limit)
	d.nothingRuns(t)
	harness.IsEmpty(t, d.temporary)
}
