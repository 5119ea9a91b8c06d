package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"lifeline/loadgen/clock"
)

// Options of an agent.
type Options struct {
	TLS     *tls.Config // of certificates.Mutual
	Sources []string    // addresses of this machine that connections come from, in turn; empty: the kernel chooses
	Dir     string      // for the workers' logs; empty: the system's temporary folder
	Log     *log.Logger // of runs, and of coordinators that are refused
}

// Serve serves coordinators, one at a time, until ctx ends, and closes the listener. A run under way ends with it.
func Serve(ctx context.Context, listener net.Listener, options Options) error {
	a := &server{options: options}
	mux := http.NewServeMux()
	mux.HandleFunc(runPath, a.run)
	mux.HandleFunc(clockPath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, clock.Now()) })
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	s := &http.Server{
		Handler: mux, TLSConfig: options.TLS, Protocols: protocols, HTTP2: http2(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: options.Log,
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	err := s.ServeTLS(listener, "", "")
	a.sessions.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

type server struct {
	options  Options
	busy     sync.Mutex // held by a run
	sessions sync.WaitGroup
}

func (a *server) run(w http.ResponseWriter, r *http.Request) {
	a.sessions.Add(1)
	defer a.sessions.Done()
	if !a.busy.TryLock() {
		http.Error(w, "it serves another coordinator", http.StatusConflict)
		return
	}
	defer a.busy.Unlock()
	a.options.Log.Printf("a run of %s begins", r.RemoteAddr)
	ending := "its coordinator has closed it"
	if err := newSession(a.options, w).serve(r.Body); err != nil {
		ending = err.Error()
	}
	a.options.Log.Printf("the run of %s is over: %s", r.RemoteAddr, ending)
}

// CheckSources finds addresses that connections of this machine cannot come from.
func CheckSources(sources []string) error {
	for _, source := range sources {
		ip := net.ParseIP(source)
		if ip == nil {
			return fmt.Errorf("%q is no IP address", source)
		}
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip})
		if err != nil {
			return fmt.Errorf("%s is no address of this machine (%w); add it with `ip address add %s/PREFIX dev DEVICE`", source, err, source)
		}
		_ = listener.Close()
	}
	return nil
}
