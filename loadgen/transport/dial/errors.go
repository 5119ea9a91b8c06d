package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"lifeline/loadgen/result"
)

// Classify wraps what went wrong between dialling address and the end of the protocol's handshake in a *result.Failure where
// the cause is one that a fleet counts: no descriptor or no port left, or a broker that does not answer in time. Transports
// call it for their handshakes too: the kernel accepts connections that a broker never looks at.
func Classify(address string, err error) error {
	var failure *result.Failure
	var timeout net.Error
	switch {
	case err == nil || errors.As(err, &failure):
		return err
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return &result.Failure{Cause: result.Descriptors, Message: fmt.Sprintf(
			"connect to %s: this process has no file descriptor left; raise `ulimit -n`, or use more workers", address)}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return &result.Failure{Cause: result.Ports, Message: fmt.Sprintf(
			"connect to %s: no port left on this source address; set source_addresses higher", address)}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, syscall.ETIMEDOUT), errors.As(err, &timeout) && timeout.Timeout():
		return &result.Failure{Cause: result.AcceptTimeout, Message: fmt.Sprintf(
			"connect to %s: the broker did not answer in time; let the fleet grow more slowly (ramp), or give it more nodes",
			address)}
	}
	return fmt.Errorf("connect to %s: %w", address, err)
}
