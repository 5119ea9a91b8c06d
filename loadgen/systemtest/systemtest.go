// Package systemtest marks the tests whose outcome depends on more than the code: a server, another process, the scheduler or
// the wall clock. The runner may repeat them when they fail, and never the other ones.
package systemtest

import (
	"os"
	"testing"
)

// Mark tags a test as a system test, and leaves it out where only unit tests are to run.
func Mark(t testing.TB) {
	t.Helper()
	t.Attr("tag", "system")
	if os.Getenv("LIFELINE_TESTS") == "unit" {
		t.Skip("a system test")
	}
}
