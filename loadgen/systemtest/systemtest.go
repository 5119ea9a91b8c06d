// Package systemtest marks the tests whose outcome depends on more than the code: a server, another process, the scheduler or
// the wall clock. The runner may repeat them when they fail, and never the other ones.
package systemtest

import "testing"

// Mark tags a test as a system test.
func Mark(t testing.TB) {
	t.Helper()
	t.Attr("tag", "system")
}
