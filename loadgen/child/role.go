package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// A Role is what this program does as a child of its own: a worker, a broker's node. Packages register theirs when they are
// initialised, so that every program, and every test program, that links them can start them.
type Role func(ctx context.Context, arguments []string) error

var roles = map[string]Role{}

// Register names a role: the first argument of a process that plays it.
func Register(name string, role Role) { roles[name] = role }

// Command is this program in a role, even if its file has been replaced since; it is killed when ctx ends.
func Command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "/proc/self/exe", append([]string{name}, arguments...)...)
	command.Args[0] = os.Args[0]
	return command
}

// Play is the first call of main and of TestMain. In a process that was started with Command it plays the role and exits; in any
// other it returns. The parent stops its children, so the terminal's signals are ignored.
func Play() {
	if len(os.Args) < 2 {
		return
	}
	name := os.Args[1]
	role, known := roles[name]
	if !known {
		return
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := role(context.Background(), os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", os.Args[0], name, err)
		os.Exit(1)
	}
	os.Exit(0)
}
