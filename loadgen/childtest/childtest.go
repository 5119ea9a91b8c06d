// Package childtest lets a test binary act as the processes that its tests start, under a hidden verb.
package childtest

import (
	"fmt"
	"os"
	"testing"
)

// Main is called from TestMain. It runs the verb named by the first argument, or else the tests.
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
