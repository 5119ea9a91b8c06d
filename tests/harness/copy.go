package harness

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"time"
)

// Copy is a `remote-copy serve` and the directory that it copies into.
type Copy struct {
	*Process
	Address, Into string
}

// StartCopyServer starts remote-copy-plain or remote-copy as the receiving side.
func StartCopyServer(t T, program string, settings []string, options ...string) *Copy {
	t.Helper()
	into := t.TempDir()
	arguments := append([]string{"serve", "--into", into, "--json"}, options...)
	process := Start(t, settings, Program(t, program), arguments...)
	address := process.WaitForOutput(t, testTimeout, `"listening":"([^"]+)"`)
	return &Copy{Process: process, Address: address, Into: into}
}

// Has fails the test unless the file has arrived unchanged.
func (c *Copy) Has(t T, sent string) {
	t.Helper()
	want, err := os.ReadFile(sent)
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, err := os.ReadFile(filepath.Join(c.Into, sent))
	if err != nil {
		t.Fatalf("%s did not arrive: %v", sent, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s arrived as %d other bytes than the %d that were sent", sent, len(got), len(want))
	}
}

// WaitForAPart waits until some bytes of a file are in the directory, under whatever name.
func (c *Copy) WaitForAPart(t T) {
	t.Helper()
	for deadline := time.Now().Add(testTimeout); ; time.Sleep(20 * time.Millisecond) {
		found := false
		filepath.WalkDir(c.Into, func(_ string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				info, err := entry.Info()
				found = found || err == nil && info.Size() > 0
			}
			return nil
		})
		if found {
			return
		}
		if !c.Running() || time.Now().After(deadline) {
			t.Fatalf("nothing of a file has arrived\n%s", c.Stderr())
		}
	}
}

// IsEmpty fails the test if the directory contains any file, including temporary ones.
func (c *Copy) IsEmpty(t T) {
	t.Helper()
	filepath.WalkDir(c.Into, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Fatalf("%s was left behind", path)
		}
		return err
	})
}

// RandomFile creates a file of this size.
func RandomFile(t T, bytes int) string {
	t.Helper()
	return RandomFileIn(t, t.TempDir(), bytes)
}

// RandomFileIn makes it in the directory, under a name of its own.
func RandomFileIn(t T, directory string, bytes int) string {
	t.Helper()
	file, err := os.CreateTemp(directory, "file")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer file.Close()
	data := make([]byte, bytes)
	rand.New(rand.NewSource(int64(bytes))).Read(data)
	if _, err := file.Write(data); err != nil {
		t.Fatalf("%v", err)
	}
	return file.Name()
}
