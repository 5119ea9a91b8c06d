package systemtest

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// KeepCore starts a process of real-time priority that lets no other run on a core, until release is called, once. A test that may not
// do that, or has no other core, is left out.
func KeepCore(t testing.TB) (core int, release func()) {
	t.Helper()
	var usable, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usable); err != nil {
		t.Fatal(err)
	}
	if usable.Count() < 2 {
		t.Skip("the only core is needed")
	}
	for !usable.IsSet(core) {
		core++
	}
	one.Set(core)
	busy := exec.Command("sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	release = func() {
		_ = busy.Process.Kill()
		_ = busy.Wait() // killed, as asked
	}
	realTime := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	if err := unix.SchedSetaffinity(busy.Process.Pid, &one); err != nil {
		release()
		t.Fatal(err)
	}
	if err := unix.SchedSetAttr(busy.Process.Pid, &realTime, 0); err != nil {
		release()
		t.Skipf("no permission to keep a core: %v", err)
	}
	return core, release
}
