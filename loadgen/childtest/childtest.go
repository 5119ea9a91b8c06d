// Package childtest lets a test program be the processes that its tests start: like the fleet, they run their own program again,
// under a hidden verb.
package childtest

import (
	"fmt"
	"os"
	"testing"
)

// Main is for TestMain. It does what the verb says that is the first argument, or runs the tests where that is none.
func Main(m *testing.M, verbs map[string]func(arguments []string) error) {
	if len(os.Args) > 1 {
		if run, is := verbs[os.Args[1]]; is {
			if err := run(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}
