package ksqldb_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifeline/loadgen/result"
	"lifeline/loadgen/study/ksqldb"
	"lifeline/loadgen/study/ksqldb/ksqldbtest"
)

const (
	source = "CREATE STREAM A (x INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'JSON');"
	query  = "CREATE STREAM B WITH (KAFKA_TOPIC = 'b') AS SELECT * FROM A EMIT CHANGES;"
)

func open(t *testing.T, server ksqldb.Server) *ksqldb.Client {
	t.Helper()
	client, err := ksqldb.New(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// written puts a text into a file.
func written(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAServerSaysWhoItIs(t *testing.T) {
	server := ksqldbtest.New(t, false)
	info, err := open(t, ksqldb.Server{URL: server.URL + "/"}).Info(t.Context())
	if want := (ksqldb.Info{Version: "8.2.3", Kafka: "some-kafka"}); err != nil || info != want {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestAStatementHasBeenCarriedOutWhenExecuteReturns(t *testing.T) {
	for name, slow := range map[string]bool{"at once": false, "later": true} {
		t.Run(name, func(t *testing.T) {
			server := ksqldbtest.New(t, false)
			server.Slow = slow
			client := open(t, ksqldb.Server{URL: server.URL})
			for _, statement := range []string{source, query} {
				if err := client.Execute(t.Context(), statement, nil); err != nil {
					t.Fatal(err)
				}
			}
			running, err := client.Queries(t.Context())
			if err != nil || len(running) != 1 || running[0].State != "RUNNING" || !slices.Equal(running[0].Sinks, []string{"B"}) {
				t.Fatalf("got %+v, %v", running, err)
			}
			for _, statement := range []string{"TERMINATE " + running[0].ID + ";", "DROP STREAM IF EXISTS B DELETE TOPIC;"} {
				if err := client.Execute(t.Context(), statement, nil); err != nil {
					t.Fatal(err)
				}
			}
			if left := server.Left(); !slices.Equal(left, []string{"A"}) {
				t.Errorf("there are %v", left)
			}
		})
	}
}

func TestARefusedStatementIsAnErrorInTheServersWords(t *testing.T) {
	server := ksqldbtest.New(t, false)
	err := open(t, ksqldb.Server{URL: server.URL}).Execute(t.Context(), query, nil)
	ksqldbtest.Expect(t, err, result.Refused, server.URL, "A does not exist.", "40001")
}

// follow makes the stream A, and asks for its rows.
func follow(t *testing.T, client *ksqldb.Client) *ksqldb.Rows {
	t.Helper()
	if err := client.Execute(t.Context(), source, nil); err != nil {
		t.Fatal(err)
	}
	rows, err := client.Follow(t.Context(), "SELECT * FROM A WHERE x > 0 EMIT CHANGES;", nil)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRowsComeOneByOneUntilTheQueryIsClosed(t *testing.T) {
	server := ksqldbtest.New(t, false)
	server.Answers = func(_ context.Context, topic string, send func(string)) {
		send(`["` + topic + `",1]`)
		send(`{"continuationToken":"x"}`)
		send(`["` + topic + `",2]`)
	}
	rows := follow(t, open(t, ksqldb.Server{URL: server.URL}))
	for _, want := range []string{`["a",1]`, `["a",2]`} {
		if row, err := rows.Next(); err != nil || string(row) != want {
			t.Errorf("got %s, %v; want %s", row, err, want)
		}
	}
	if err := rows.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := server.Left(); !slices.Equal(left, []string{"A"}) {
		t.Errorf("the server still has %v", left)
	}
	if row, err := rows.Next(); err == nil {
		t.Errorf("a row after the end: %s", row)
	}
}

func TestAQueryThatFailsOnItsWayEndsInTheServersWords(t *testing.T) {
	server := ksqldbtest.New(t, false)
	server.Answers = func(_ context.Context, _ string, send func(string)) {
		send(`{"@type":"generic_error","error_code":50000,"message":"out of memory"}`)
	}
	client := open(t, ksqldb.Server{URL: server.URL})
	_, err := client.Follow(t.Context(), "SELECT * FROM A WHERE x > 0 EMIT CHANGES;", nil)
	ksqldbtest.Expect(t, err, result.Refused, "no such stream", "40001")
	rows := follow(t, client)
	_, err = rows.Next()
	ksqldbtest.Expect(t, err, result.Refused, "out of memory (50000)")
	if err := rows.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestARowWithoutEndIsNotReadForEver(t *testing.T) {
	server := ksqldbtest.New(t, false)
	server.Answers = func(_ context.Context, _ string, send func(string)) {
		send(`["` + strings.Repeat("x", 2<<20) + `",1]`)
	}
	rows := follow(t, open(t, ksqldb.Server{URL: server.URL}))
	_, err := rows.Next()
	ksqldbtest.Expect(t, err, result.SetUp, "a row is longer than 1048576 bytes")
	if err := rows.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAPasswordIsExposedWhereItLeavesTheMachineWithoutTLS(t *testing.T) {
	for url, exposed := range map[string]bool{
		"http://ksqldb.example:8088": true, "https://ksqldb.example": false, "http://localhost:8088": false, "http://[::1]:8088": false,
	} {
		if got := (ksqldb.Server{URL: url, User: "ann", PasswordFile: "password"}).ExposesPassword(); got != exposed {
			t.Errorf("%s: exposed %t", url, got)
		}
		if (ksqldb.Server{URL: url}).ExposesPassword() {
			t.Errorf("%s: a password that is not there is exposed", url)
		}
	}
}

func TestAServerThatAsksForAPasswordGetsIt(t *testing.T) {
	server := ksqldbtest.New(t, false)
	server.User, server.Password = "ann", "secret"
	if _, err := open(t, ksqldb.Server{URL: server.URL, User: "ann", PasswordFile: written(t, "secret\n")}).Info(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := open(t, ksqldb.Server{URL: server.URL}).Info(t.Context())
	ksqldbtest.Expect(t, err, result.Refused, "401", "requires authentication")
	_, err = open(t, ksqldb.Server{URL: server.URL, User: "ann", PasswordFile: written(t, "wrong-one")}).Info(t.Context())
	ksqldbtest.Expect(t, err, result.Refused, "401", "ann")
	if strings.Contains(err.Error(), "wrong-one") {
		t.Errorf("the password is in the error: %v", err)
	}
}

func TestAServerIsTrustedByItsAuthorityAndNoOtherwise(t *testing.T) {
	server := ksqldbtest.New(t, true)
	server.Config.ErrorLog = nil
	ca := written(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	if _, err := open(t, ksqldb.Server{URL: server.URL, CAFile: ca}).Info(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := open(t, ksqldb.Server{URL: server.URL}).Info(t.Context())
	ksqldbtest.Expect(t, err, result.Refused, "certificate")
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	server := ksqldbtest.New(t, false)
	server.Close()
	_, err := open(t, ksqldb.Server{URL: server.URL}).Info(t.Context())
	ksqldbtest.Expect(t, err, result.Refused, "no ksqlDB answers at "+server.URL, "connection refused")
}

func TestWhatIsNoKsqlDBIsSaidToBeNone(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a page":        func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome</html>")) },
		"nothing there": http.NotFound,
		"other JSON":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version":"7"}`)) },
		"no version":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"KsqlServerInfo":{}}`)) },
		"sent elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			_, err := open(t, ksqldb.Server{URL: server.URL}).Info(t.Context())
			ksqldbtest.Expect(t, err, result.SetUp, server.URL, "is not ksqlDB")
		})
	}
}

func TestAServerThatIsNotReadySaysSo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"@type":"generic_error","error_code":50302,"message":"Server initializing"}`))
	}))
	defer server.Close()
	_, err := open(t, ksqldb.Server{URL: server.URL}).Info(t.Context())
	ksqldbtest.Expect(t, err, result.Refused, "Server initializing (50302)")
}

func TestWhoeverStopsAskingGetsHisOwnErrorBack(t *testing.T) {
	server := ksqldbtest.New(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, ksqldb.Server{URL: server.URL}).Info(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnAddressThatCannotBeMeantIsRefusedWithoutRepeatingAPassword(t *testing.T) {
	for _, server := range []ksqldb.Server{
		{URL: ""},
		{URL: "ksqldb:8088"},
		{URL: "kafka://ksqldb:9092"},
		{URL: "http://ann:secret@ksqldb:8088"},
		{URL: "http://ann:secret@ksqldb:port"},
		{URL: "http://ksqldb:8088/?a=b"},
		{URL: "http://ksqldb:8088", User: "ann"},
		{URL: "http://ksqldb:8088", PasswordFile: "secret"},
		{URL: "http://ksqldb:8088", CAFile: "ca.pem"},
		{URL: "https://ksqldb:8088", CAFile: "no-such-file"},
		{URL: "https://ksqldb:8088", CAFile: written(t, "no certificate")},
		{URL: "https://ksqldb:8088", User: "ann", PasswordFile: "no-such-file"},
	} {
		client, err := ksqldb.New(server)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, %v", server, client, err)
		}
	}
}
