package ksqldbtest

import (
	"errors"
	"strings"
	"testing"

	"lifeline/loadgen/result"
)

// Expect fails the test unless the error is a failure of this cause that says all of this.
func Expect(t testing.TB, err error, cause result.Cause, says ...string) {
	t.Helper()
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != cause {
		t.Errorf("the error is %v, want one of cause %s", err, cause)
		return
	}
	for _, text := range says {
		if !strings.Contains(failure.Message, text) {
			t.Errorf("the error does not say %q: %s", text, failure.Message)
		}
	}
}
