package derived

import (
	"context"
	"sync/atomic"

	"lifeline/loadgen/study/ksqldb"
)

// answers is a bus whose results are what a query of ksqlDB answers.
type answers struct {
	*publisher
	rows    *ksqldb.Rows
	failed  atomic.Pointer[error]
	stopped chan struct{}
}

func (a *answers) receive(take func([]byte)) {
	defer close(a.stopped)
	for {
		row, err := a.rows.Next()
		if err != nil {
			a.failed.Store(&err)
			return
		}
		take(row)
	}
}

func (a *answers) trouble() error { return loaded(&a.failed) }

func (a *answers) close() {
	_ = a.rows.Close(context.Background()) // or else the server ends the query when the connection has gone, which is next
	<-a.stopped
	a.publisher.close()
}

// loaded is an error that another goroutine may have had; nil: none.
func loaded(from *atomic.Pointer[error]) error {
	if err := from.Load(); err != nil {
		return *err
	}
	return nil
}
