package workdir_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifeline/loadgen/child"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/workdir"
)

// ownerRole is a program that owns a folder until its standard input ends or it is killed.
const ownerRole = "owner"

func TestMain(m *testing.M) {
	child.Register(ownerRole, func(_ context.Context, arguments []string) error {
		folder, err := workdir.New(arguments[0])
		if err != nil {
			return err
		}
		fmt.Println(folder.Path)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return nil // without a Remove
	})
	child.Play()
	os.Exit(m.Run())
}

// owner is another process with a folder in parent, and that folder.
func owner(t *testing.T, parent string) (*exec.Cmd, string) {
	t.Helper()
	command := child.Command(t.Context(), ownerRole, parent)
	command.Stderr = os.Stderr
	if _, err := command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	path, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatalf("the other process made no folder: %v", err)
	}
	return command, strings.TrimSpace(path)
}

// renew makes a folder as the next run does, and removes it.
func renew(t *testing.T, parent string) {
	t.Helper()
	folder, err := workdir.New(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Remove(); err != nil {
		t.Fatal(err)
	}
	if exists(folder.Path) {
		t.Errorf("%s is still there after its Remove", folder.Path)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func TestTheFolderOfAProcessThatWasKilledIsRemovedByTheNextRunAndNotBefore(t *testing.T) {
	systemtest.Mark(t)
	parent := t.TempDir()
	command, left := owner(t, parent)
	if err := os.MkdirAll(filepath.Join(left, "broker", "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	renew(t, parent)
	if !exists(filepath.Join(left, "broker", "data")) {
		t.Error("the folder was taken from a process that lives")
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // it says that it was killed
	renew(t, parent)
	if exists(left) {
		t.Errorf("%s is still there", left)
	}
}

func TestFoldersThatNoRunHasMadeAreLeftAlone(t *testing.T) {
	parent := t.TempDir()
	mine := filepath.Join(parent, "lifeline-run-of-mine")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	renew(t, parent)
	if !exists(mine) {
		t.Error("it is gone")
	}
}
