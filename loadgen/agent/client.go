package agent

import (
	"context"
	"crypto/tls"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"lifeline/loadgen/crew"
	"lifeline/loadgen/host"
	"lifeline/loadgen/preflight"
	"lifeline/loadgen/result"
	"lifeline/loadgen/worker"
)

// ErrGone is the end of an agent in the middle of a run.
var ErrGone = errors.New("the agent is gone")

// Client is a coordinator's view of one agent, from Dial to Dismiss. One goroutine at a time gives orders, and calls Stop and
// Dismiss; the samples may be read by any.
type Client struct {
	name   string
	http   *http.Client
	hello  hello
	offset result.Offset // of the agent's clock, by Dial

	orders   *gob.Encoder
	sending  io.WriteCloser
	reports  *gob.Decoder
	receives io.Closer
	cancel   context.CancelFunc

	listening sync.WaitGroup
	stopped   chan gauges
	gone      chan struct{}

	mu      sync.Mutex
	samples []host.Sample
	stalls  worker.Stalls // since they were last taken
}

// Dial begins a run on the agent at HOST:PORT.
func Dial(ctx context.Context, address string, config *tls.Config) (*Client, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	c := &Client{name: address, stopped: make(chan gauges, 1), gone: make(chan struct{}), http: &http.Client{Transport: &http.Transport{
		TLSClientConfig: config.Clone(), Protocols: protocols, HTTP2: http2(), TLSHandshakeTimeout: dialTimeout,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
	}}}
	if err := c.begin(ctx); err != nil {
		c.http.CloseIdleConnections()
		return nil, fmt.Errorf("agent %s: %w", address, err)
	}
	var err error
	if c.offset, err = c.Offset(ctx); err != nil {
		c.Dismiss()
		return nil, err
	}
	return c, nil
}

// begin opens the stream and reads the agent's hello.
func (c *Client) begin(ctx context.Context) error {
	stream, cancel := context.WithCancel(context.Background())
	defer context.AfterFunc(ctx, cancel)() // until the run has begun; then it ends in good order
	defer time.AfterFunc(2*dialTimeout, cancel).Stop()
	body, sending := io.Pipe()
	request, err := http.NewRequestWithContext(stream, http.MethodPost, c.url(runPath), body)
	if err != nil {
		cancel()
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		cancel()
		return fmt.Errorf("%w; is it running, and are the certificates of both of the same CA? It prints why it refuses one", err)
	}
	c.sending, c.receives, c.cancel = sending, response.Body, cancel
	c.orders, c.reports = gob.NewEncoder(sending), gob.NewDecoder(response.Body)
	if response.StatusCode != http.StatusOK {
		defer c.close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("%s", strings.TrimSpace(string(text)))
	}
	var first report
	if err := c.reports.Decode(&first); err != nil || first.Hello == nil {
		c.close()
		return fmt.Errorf("it has not begun the run: %s%v", first.Failure, err)
	}
	c.hello = *first.Hello
	return nil
}

func (c *Client) url(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	return "https://" + c.name + path
}

// Name is the agent's HOST:PORT.
func (c *Client) Name() string { return c.name }

// Limits are what the fleet may use of the agent's machine, as preflight.Read found them there.
func (c *Client) Limits() (preflight.Machine, error) { return c.hello.Limits, nil }

// Describe says what the machine is, and how far its clock was ahead when the run began.
func (c *Client) Describe() result.Host {
	return result.Host{Name: c.name, Machine: c.hello.Machine, Sources: c.hello.Sources, ClockBegin: c.offset}
}

// Hire starts workers on the agent's machine, as crew.Hire does here, and its gauges.
func (c *Client) Hire(workers int, say func(crew.Said)) error {
	if err := c.send(order{Hire: workers}); err != nil {
		return err
	}
	c.listening.Go(func() { c.listen(workers, say) })
	return nil
}

// listen hands on reports. Where the stream ends before all workers have, it blames the first of those that have not.
func (c *Client) listen(workers int, say func(crew.Said)) {
	defer close(c.gone)
	ended := make([]bool, workers)
	for {
		var next report
		err := c.reports.Decode(&next)
		if err == nil && next.Failure != "" {
			err = errors.New(next.Failure)
		}
		if err == nil && next.Said != nil && (next.Said.Member < 0 || next.Said.Member >= workers) {
			err = fmt.Errorf("it reports of worker %d, and has %d", next.Said.Member, workers)
		}
		if err != nil {
			for member, over := range ended {
				if !over {
					say(crew.Said{Member: member, Err: fmt.Errorf("%w: %w", ErrGone, err)})
					return
				}
			}
			return
		}
		c.keep(next.Samples, next.Stalls)
		if next.Gauges != nil {
			select {
			case c.stopped <- *next.Gauges:
			default: // it was asked once
			}
		}
		if next.Said != nil {
			said := next.Said.unwire()
			ended[said.Member] = said.Err != nil || said.Report.Final != nil || said.Report.Failure != nil
			say(said)
		}
	}
}

// Order gives one of the workers an order.
func (c *Client) Order(number int, to worker.Order) error {
	return c.send(order{Worker: &forWorker{number, to}})
}

func (c *Client) send(next order) error {
	if err := c.orders.Encode(next); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// Dismiss ends the run, and with it the workers, and returns when the agent has confirmed that they are gone, or does not answer.
func (c *Client) Dismiss() {
	const grace = 15 * time.Second // an agent's workers have five seconds
	c.sending.Close()
	timer := time.AfterFunc(grace, c.cancel)
	defer timer.Stop()
	c.listening.Wait()
	for { // where no workers were hired nobody has listened
		var rest report
		if c.reports.Decode(&rest) != nil {
			break
		}
	}
	c.close()
}

func (c *Client) close() {
	c.sending.Close()
	c.cancel()
	c.receives.Close()
	c.http.CloseIdleConnections()
}
