package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"lifeline/loadgen/workdir"
)

// marker is a file in a kept folder, locked while lifeline-dev runs in it.
const marker = ".lifeline-dev"

// folder holds the data of the broker and the jobs.
type folder struct {
	path  string
	close func() error
}

// open makes a temporary folder, or takes the one that is kept.
func open(keep string) (*folder, error) {
	if keep != "" {
		return openKept(keep)
	}
	temporary, err := workdir.New("")
	if err != nil {
		return nil, err
	}
	return &folder{temporary.Path, temporary.Remove}, nil
}

func openKept(keep string) (*folder, error) {
	path, err := filepath.Abs(keep)
	if err == nil {
		err = os.MkdirAll(path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("--keep %s: %w", keep, err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("--keep %s: %w", keep, err)
	}
	if _, err := os.Lstat(filepath.Join(path, marker)); err != nil && len(entries) > 0 {
		return nil, fmt.Errorf("--keep %s: the directory holds something else, such as %s: choose a new or empty one", keep, entries[0].Name())
	}
	lock, err := os.OpenFile(filepath.Join(path, marker), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--keep %s: %w", keep, err)
	}
	switch err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		lock.Close()
		return nil, fmt.Errorf("--keep %s: another lifeline-dev uses the directory: end that, or choose another one", keep)
	case err != nil:
		lock.Close()
		return nil, fmt.Errorf("--keep %s: locking %s: %w", keep, marker, err)
	}
	return &folder{path, lock.Close}, nil
}
