// Package ksqldbtest is a server that answers as ksqlDB does, for tests. Everywhere else tests use the real thing, but no package
// registry has ksqlDB's: this one keeps to what its documentation and its sources say of the REST interface, as far as streams and
// queries of one go.
package ksqldbtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Server knows streams and standing queries. Its settings are made before the first question, or by Adjust.
type Server struct {
	Kafka          string                        // id of the cluster that it says it reads
	User, Password string                        // empty: it asks nobody
	Slow           bool                          // it writes statements down, and does them when it is asked how far it has got
	Refuses        func(statement string) string // what is wrong with a statement; nil: nothing
	Runs           func(source, sink string)     // called with the topics of a new query, if not nil
	// Answers sends the rows of a topic, arrays in JSON, until the context ends; nil: there are none.
	Answers func(ctx context.Context, topic string, send func(row string))

	*httptest.Server
	mutex      sync.Mutex
	statements []string
	streams    map[string]string // their topics
	queries    map[string]query
	waiting    map[string]func() // what a command will do
	following  map[string]context.CancelFunc
}

type query struct{ source, sink string }

// New starts a server that ends with the test. With TLS its certificate is its own authority.
func New(t testing.TB, tls bool) *Server {
	s := &Server{Kafka: "some-kafka", streams: map[string]string{}, queries: map[string]query{}, waiting: map[string]func(){}, following: map[string]context.CancelFunc{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /info", s.info)
	mux.HandleFunc("POST /ksql", s.ksql)
	mux.HandleFunc("GET /status/", s.status)
	mux.HandleFunc("POST /query-stream", s.queryStream)
	mux.HandleFunc("POST /close-query", s.closeQuery)
	s.Server = httptest.NewUnstartedServer(s.guarded(mux))
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// Adjust changes settings of a server that is being asked.
func (s *Server) Adjust(change func(*Server)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change(s)
}

// Statements are all that were asked for so far.
func (s *Server) Statements() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]string(nil), s.statements...)
}

// Left are the streams and queries that are there.
func (s *Server) Left() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []string
	for name := range s.streams {
		all = append(all, name)
	}
	for id := range s.queries {
		all = append(all, id)
	}
	for id := range s.following {
		all = append(all, id)
	}
	return all
}

func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); s.User != "" && (user != s.User || password != s.Password) {
			answer(w, http.StatusUnauthorized, map[string]any{"@type": "generic_error", "error_code": 40100, "message": "Unauthorized"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what)
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	answer(w, http.StatusOK, map[string]any{"KsqlServerInfo": map[string]string{
		"version": "8.2.3", "kafkaClusterId": s.Kafka, "ksqlServiceId": "default_", "serverStatus": "RUNNING",
	}})
}

func (s *Server) ksql(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Statements string `json:"ksql"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"@type": "generic_error", "error_code": 40000, "message": err.Error()})
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.statements = append(s.statements, asked.Statements)
	if asked.Statements == "SHOW QUERIES;" {
		answer(w, http.StatusOK, []any{map[string]any{"@type": "queries", "statementText": asked.Statements, "queries": s.running()}})
		return
	}
	wrong := ""
	if s.Refuses != nil {
		wrong = s.Refuses(asked.Statements)
	}
	command, do := "", func() {}
	if wrong == "" {
		command, do, wrong = s.understand(asked.Statements)
	}
	if wrong != "" {
		answer(w, http.StatusBadRequest, map[string]any{
			"@type": "statement_error", "error_code": 40001, "message": wrong, "statementText": asked.Statements, "entities": []any{},
		})
		return
	}
	state := "SUCCESS"
	if s.Slow {
		state, s.waiting[command] = "QUEUED", do
	} else {
		do()
	}
	answer(w, http.StatusOK, []any{map[string]any{
		"@type": "currentStatus", "statementText": asked.Statements, "commandId": command, "commandSequenceNumber": 2,
		"commandStatus": map[string]any{"status": state, "message": "", "queryId": nil}, "warnings": []any{},
	}})
}

// status does what has been written down.
func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	command, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/status/"))
	do, known := s.waiting[command]
	if err != nil || !known {
		answer(w, http.StatusNotFound, map[string]any{"@type": "generic_error", "error_code": 40400, "message": "Command not found"})
		return
	}
	do()
	delete(s.waiting, command)
	answer(w, http.StatusOK, map[string]any{"status": "SUCCESS", "message": "", "queryId": nil})
}

var (
	createStream = regexp.MustCompile(`^CREATE STREAM (\w+) \(.*\) WITH \(KAFKA_TOPIC = '([^']+)', .*\);$`)
	createQuery  = regexp.MustCompile(`^CREATE STREAM (\w+) WITH \(KAFKA_TOPIC = '([^']+)'\) AS SELECT .* FROM (\w+) .*EMIT CHANGES;$`)
	terminate    = regexp.MustCompile(`^TERMINATE (\w+);$`)
	drop         = regexp.MustCompile(`^DROP STREAM IF EXISTS (\w+) DELETE TOPIC;$`)
)

// understand returns the command that a statement becomes, and what it does; or what is wrong with it.
func (s *Server) understand(statement string) (command string, do func(), wrong string) {
	if found := createStream.FindStringSubmatch(statement); found != nil {
		return "stream/`" + found[1] + "`/create", func() { s.streams[found[1]] = found[2] }, ""
	}
	if found := createQuery.FindStringSubmatch(statement); found != nil {
		from, there := s.streams[found[3]]
		if !there {
			return "", nil, found[3] + " does not exist."
		}
		return "stream/`" + found[1] + "`/create", func() {
			s.streams[found[1]] = found[2]
			s.queries[fmt.Sprintf("CSAS_%s_%d", found[1], len(s.statements))] = query{found[3], found[1]}
			if s.Runs != nil {
				s.Runs(from, found[2])
			}
		}, ""
	}
	if found := terminate.FindStringSubmatch(statement); found != nil {
		if _, there := s.queries[found[1]]; !there {
			return "", nil, "Unknown queryId: " + found[1]
		}
		return "terminate/" + found[1] + "/execute", func() { delete(s.queries, found[1]) }, ""
	}
	if found := drop.FindStringSubmatch(statement); found != nil {
		for id, query := range s.queries {
			if query.source == found[1] || query.sink == found[1] {
				return "", nil, fmt.Sprintf("Cannot drop %s. The following queries use it: [%s].", found[1], id)
			}
		}
		return "stream/`" + found[1] + "`/drop", func() { delete(s.streams, found[1]) }, ""
	}
	return "", nil, "line 1:1: Syntax Error"
}

func (s *Server) running() []any {
	all := []any{}
	for id, query := range s.queries {
		all = append(all, map[string]any{
			"queryString": "CREATE STREAM ...", "sinks": []string{query.sink}, "id": id, "statusCount": map[string]int{"RUNNING": 1},
			"queryType": "PERSISTENT", "state": "RUNNING",
		})
	}
	return all
}

var selectRows = regexp.MustCompile(`^SELECT \* FROM (\w+) .*EMIT CHANGES;$`)

// queryStream answers a query that goes on, until the client goes or closes it.
func (s *Server) queryStream(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Query string `json:"sql"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	s.mutex.Lock()
	s.statements = append(s.statements, asked.Query)
	found := selectRows.FindStringSubmatch(asked.Query)
	if err != nil || found == nil || s.streams[found[1]] == "" {
		s.mutex.Unlock()
		answer(w, http.StatusBadRequest, map[string]any{
			"@type": "statement_error", "error_code": 40001, "message": "no such stream", "statementText": asked.Query, "entities": []any{},
		})
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	id, topic, answers := fmt.Sprintf("transient_%s_%d", found[1], len(s.statements)), s.streams[found[1]], s.Answers
	s.following[id] = stop
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.following, id)
	}()
	send := func(line string) {
		_, _ = fmt.Fprintln(w, line)
		w.(http.Flusher).Flush()
	}
	send(fmt.Sprintf(`{"queryId":"%s","columnNames":["ID","X"],"columnTypes":["STRING","INTEGER"]}`, id))
	if answers != nil {
		answers(ctx, topic, send)
	}
	<-ctx.Done()
}

func (s *Server) closeQuery(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID string `json:"queryId"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	stop, there := s.following[asked.ID]
	if err != nil || !there {
		answer(w, http.StatusBadRequest, map[string]any{"@type": "generic_error", "error_code": 40000, "message": "No query with id " + asked.ID})
		return
	}
	stop()
	delete(s.following, asked.ID)
}
