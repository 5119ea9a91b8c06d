// Package workdir creates temporary folders for a run: brokers' data, keys, logs.
package workdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	prefix   = "lifeline-run-"
	lockName = "owner.lock" // locked for as long as the process lives that made the folder
)

// Folder is a new folder that only its user can read.
type Folder struct {
	Path string
	lock *os.File
}

// New creates a folder in parent, or in the system's temporary folder if empty. First it removes the folders of
// processes that were killed: a broker's data may be gigabytes.
func New(parent string) (*Folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	sweep(parent)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder for the run: %w", err)
	}
	f := &Folder{Path: path}
	if f.lock, err = own(path); err != nil {
		_ = os.RemoveAll(path)
		return nil, fmt.Errorf("making a folder for the run: %w", err)
	}
	return f, nil
}

// own locks a new folder. The lock is renamed into place when held: a concurrent sweep would find it free otherwise.
func own(path string) (*os.File, error) {
	name := filepath.Join(path, lockName)
	file, err := os.OpenFile(name+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return file, nil // without file locks the owner is unknown, so the folder is never swept
	}
	if err := os.Rename(name+".new", name); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	defer f.lock.Close()
	if err := remove(f.Path); err != nil {
		return fmt.Errorf("removing the run's folder: %w", err)
	}
	return nil
}

// remove deletes the lock last, so that the next run removes the rest if this process is killed.
func remove(path string) error {
	entries, err := os.ReadDir(path)
	failed := []error{err}
	for _, entry := range entries {
		if entry.Name() != lockName {
			failed = append(failed, os.RemoveAll(filepath.Join(path, entry.Name())))
		}
	}
	return errors.Join(append(failed, os.RemoveAll(path))...)
}

// sweep removes the folders of dead processes of this user. Errors are ignored: they do not affect this run.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) || !ours(entry) {
			continue
		}
		path := filepath.Join(parent, entry.Name())
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue // not a run's folder, or being created
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = remove(path)
		}
		lock.Close()
	}
}

func ours(entry os.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Getuid()
}
