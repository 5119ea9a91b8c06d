package ports

import "testing"

func TestServersListenWhereNoOutgoingConnectionDoesOrElseAnywhere(t *testing.T) {
	for _, c := range []struct{ first, last, from, to int }{
		{32768, 60999, 10000, 32767}, // the kernel's default
		{10000, 60999, 61000, 65535},
		{1024, 60000, 60001, 65535},
		{1024, 65535, 10000, 65535},
		{10500, 65500, 10000, 65535}, // too few on either side
	} {
		if from, to := serverPorts(c.first, c.last); from != c.from || to != c.to {
			t.Errorf("outgoing connections have %d to %d, and servers %d to %d, not %d to %d", c.first, c.last, from, to, c.from, c.to)
		}
	}
}
