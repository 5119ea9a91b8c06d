// Package harness starts the real programs of this repository for end-to-end tests: brokers, stream jobs, emitters.
// Started processes end with the test.
package harness

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// T is the part of testing.TB that the harness needs; a benchmark that is a program of its own brings another one.
type T interface {
	Helper()
	Fatalf(format string, arguments ...any)
	Logf(format string, arguments ...any)
	Cleanup(func())
	TempDir() string
}

// System tags a test whose outcome depends on more than the code: on servers, other processes, the scheduler or the clock. The
// runner may repeat such a test when it fails, and no other. Every test of this module is one.
func System(t interface{ Attr(key, value string) }) { t.Attr("tag", "system") }

// Root is the top folder of the repository: of the working directory where that lies inside of it, otherwise of the
// place that this file was compiled at.
func Root() string {
	directory, _ := os.Getwd()
	for directory != "/" && directory != "." {
		if _, err := os.Stat(filepath.Join(directory, "scripts", "broker")); err == nil {
			return directory
		}
		directory = filepath.Dir(directory)
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Program is the path of one that was built from C.
func Program(t T, name string) string {
	t.Helper()
	return built(t, "emitter", name, "make build")
}

// CrashProgram is a program built with crash points: emitter/src/base/crash_point.h.
func CrashProgram(t T, name string) string {
	t.Helper()
	return built(t, "crash", name, "scripts/build crash")
}

func built(t T, folder, name, by string) string {
	t.Helper()
	path := filepath.Join(Root(), "build", folder, "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s has not been built: run %s", name, by)
	}
	return path
}

// Script is the path of one of the repository's scripts.
func Script(name string) string { return filepath.Join(Root(), "scripts", name) }

// MemoryDir is a new directory on tmpfs, if available, for emitters' rings and other files that must be fast.
func MemoryDir(t T) string {
	t.Helper()
	parent := cmp.Or(os.Getenv("LIFELINE_TEST_MEMORY"), "/dev/shm") // scripts/lib/common.sh sets it where /dev/shm is small
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = t.TempDir()
	}
	directory, err := os.MkdirTemp(parent, "lifeline-test-")
	if err != nil {
		t.Fatalf("no directory in memory: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return directory
}

// MemoryDirFor is such a directory where so many bytes have room in it, and one on disk where they have not.
func MemoryDirFor(t T, bytes uint64) string {
	t.Helper()
	directory := MemoryDir(t)
	var room syscall.Statfs_t
	if err := syscall.Statfs(directory, &room); err != nil || room.Bavail*uint64(room.Bsize) < bytes {
		return t.TempDir()
	}
	return directory
}

// IsEmpty fails the test if the directory is not empty.
func IsEmpty(t T, directory string) {
	t.Helper()
	left, err := os.ReadDir(directory)
	if err != nil || len(left) > 0 {
		t.Fatalf("%d files are left in %s, as %v: %v", len(left), directory, left[:min(len(left), 3)], err)
	}
}
