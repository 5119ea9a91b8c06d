package interest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport/interest"
	"lifeline/loadgen/transport/natslib"
	"lifeline/loadgen/transport/transporttest"
)

func TestServersThatAreNoClusterAreNotWaitedForForEver(t *testing.T) {
	systemtest.Mark(t)
	strangers := append(transporttest.StartNATS(t, 1, nil), transporttest.StartNATS(t, 1, nil)...)
	over, err := natslib.New(transporttest.Settings(transporttest.Addresses(strangers)), natslib.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err = interest.Await(ctx, over, 2, 0, interest.Channel(), make(chan string))
	if err == nil || !strings.Contains(err.Error(), "are the servers one cluster") {
		t.Errorf("%v does not say what may be wrong", err)
	}
}
