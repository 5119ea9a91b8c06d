package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifeline/loadgen/cli"
	"lifeline/loadgen/report"
	"lifeline/loadgen/result"
)

// printed runs the program and returns its exit code and what it wrote to both outputs.
func printed(t *testing.T, arguments ...string) (code int, text string) {
	t.Helper()
	return printedIn(context.Background(), t, arguments...)
}

func printedIn(ctx context.Context, t *testing.T, arguments ...string) (code int, text string) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = writer, writer
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	done := make(chan string)
	go func() {
		text, _ := io.ReadAll(reader)
		done <- string(text)
	}()
	code = execute(ctx, arguments)
	writer.Close()
	return code, <-done
}

func TestEveryVerbExplainsItself(t *testing.T) {
	for _, v := range verbs {
		code, text := printed(t, v.name, "--help")
		if code != 0 || !strings.HasPrefix(text, "Usage: fleet "+v.name) {
			t.Errorf("fleet %s --help: exit %d, %.60q", v.name, code, text)
		}
		if code, text = printed(t, v.name, "--no-such-option"); code != 2 || !strings.Contains(text, " --no-such-option; `fleet "+v.name+" --help`") {
			t.Errorf("fleet %s --no-such-option: exit %d, %q", v.name, code, text)
		}
	}
}

func TestTheHelpShowsHowToMeasureOnesOwnBrokerInOneLine(t *testing.T) {
	code, text := printed(t, "--help")
	for _, want := range []string{"fleet run --url nats://", "fleet run --url kafka://", "  compare "} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit %d, no %q in %s", code, want, text)
		}
	}
}

func TestAPasswordInAURLIsNotPrinted(t *testing.T) {
	code, text := printed(t, "run", "--url", "nats://me:secret@broker.example:4222")
	if code != 1 || strings.Contains(text, "secret") || !strings.Contains(text, "password_file") {
		t.Errorf("exit %d, %s", code, text)
	}
}

func TestOneIsWarnedOfAPasswordThatOthersMayRead(t *testing.T) {
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const unreachable = "nats://192.0.2.1:1" // of a network that is for documentation
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, text := printedIn(ctx, t, "run", "--url", unreachable, "--user", "me", "--password-file", password, "--out", t.TempDir())
	if want := "the password may go to " + unreachable + " in clear text"; !strings.Contains(text, want) || strings.Contains(text, "secret") {
		t.Errorf("no %q in %q", want, text)
	}
}

func TestAStudysPointIsReportedInAFolderOfItsOwn(t *testing.T) {
	folder := t.TempDir()
	point := filepath.Join(folder, "point.json")
	text, err := json.Marshal(result.Result{Format: result.Format, Failure: &result.Failure{Cause: result.Ports, Message: "none is left"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(point, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := printed(t, "report", point); code != 0 || !strings.Contains(said, "Failed (ports)") {
		t.Errorf("exit %d, %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(folder, "point", report.PageName)); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(filepath.Join(folder, "*.*")); len(files) != 1 {
		t.Errorf("beside the point there are %v", files)
	}
}

func TestAReportThatCouldNotBeWrittenIsToldOfBeforeTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, text := printed(t, "run", "demo", "--out", filepath.Join(file, "report"))
	if code != 1 || !strings.Contains(text, file) || strings.Contains(text, "broker") {
		t.Errorf("exit %d, %q", code, text)
	}
}

func TestAFileThatIsNotValidEndsWithExitCodeOne(t *testing.T) {
	code, text := printed(t, "validate", "demo", "--set", "generators=none")
	if want := `--set generators=none: generators: "none" is no whole number`; code != 1 || !strings.Contains(text, want) {
		t.Errorf("exit %d, %q", code, text)
	}
}

func TestTheSchemaIsPrinted(t *testing.T) {
	if code, text := printed(t, "validate", "--schema"); code != 0 || !strings.Contains(text, `"$schema"`) {
		t.Errorf("exit %d, %.60q", code, text)
	}
}

func TestTheExitCodeTellsDisputedCountsFromAFailure(t *testing.T) {
	for want, found := range map[int]result.Result{
		0: {Valid: false, Invalid: []string{"the machine was loaded"}},
		1: {Failure: &result.Failure{Cause: result.Objective, Message: "missed"}, Disputed: []string{"incomplete"}},
		3: {Disputed: []string{"incomplete"}},
	} {
		silenced := os.Stdout
		os.Stdout, _ = os.Open(os.DevNull)
		err := conclude(found, t.TempDir(), false)
		os.Stdout = silenced
		if got := cli.Code("fleet run", err); got != want {
			t.Errorf("exit code %d instead of %d for %+v", got, want, found)
		}
	}
}
