package agent

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lifeline/loadgen/clock"
	"lifeline/loadgen/result"
)

// exchanges are the readings of an agent's clock that one offset is found from.
const exchanges = 20

// Offset measures by how much the agent's CLOCK_MONOTONIC is ahead of this machine's. Of several exchanges the quickest counts: the
// clock was read at some time within it, so the offset from its middle is wrong by at most half of it.
func (c *Client) Offset(ctx context.Context) (result.Offset, error) {
	select {
	case <-c.gone:
		return result.Offset{}, ErrGone
	default:
	}
	best := result.Offset{Error: math.MaxInt64}
	for range exchanges {
		before := clock.Now()
		there, err := c.readClock(ctx)
		after := clock.Now()
		if err != nil {
			return result.Offset{}, fmt.Errorf("reading the clock of agent %s: %w", c.name, err)
		}
		if half := (after - before + 1) / 2; half < best.Error {
			best = result.Offset{Nanos: there - (before + half), Error: half}
		}
	}
	return best, nil
}

func (c *Client) readClock(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(clockPath), nil)
	if err != nil {
		return 0, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 32))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

const dialTimeout = 10 * time.Second
