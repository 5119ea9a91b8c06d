package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nuid"

	"lifeline/loadgen/broker"
	"lifeline/loadgen/login"
	"lifeline/loadgen/result"
	"lifeline/loadgen/scenario"
	"lifeline/loadgen/systemtest"
	"lifeline/loadgen/transport"
	"lifeline/loadgen/transport/dial"
	"lifeline/loadgen/transport/postgres"
	"lifeline/loadgen/transport/transporttest"
	"lifeline/loadgen/worker"
)

// start returns the settings of an embedded server.
func start(t *testing.T) transport.Settings {
	t.Helper()
	systemtest.Mark(t)
	s := scenario.Default()
	s.Transport = "postgres"
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	return found(t, s)
}

func found(t *testing.T, s scenario.Scenario) transport.Settings {
	t.Helper()
	cluster, err := broker.Start(t.Context(), s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	who, err := login.Of(s.Broker)
	if err != nil {
		t.Fatal(err)
	}
	target := worker.Target{Servers: cluster.Servers(), TLS: cluster.TLS(), Login: who}
	settings, err := target.Settings(s, dial.New(1, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

// subject is a run of its own.
func subject(t *testing.T, settings transport.Settings) transporttest.Subject {
	t.Helper()
	settings.Run = nuid.Next()
	made, err := postgres.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	return transporttest.Subject{Transport: made, Traits: made.Traits(), Nodes: 1}
}

// ask opens a session beside the transport's.
func ask(t *testing.T, settings transport.Settings) *pgx.Conn {
	t.Helper()
	config, err := postgres.Config(settings.Servers[0], settings.Path, settings.Login, settings.TLS)
	if err != nil {
		t.Fatal(err)
	}
	session, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	return session
}

func do(t *testing.T, session interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, question string, answers ...any) {
	t.Helper()
	if err := session.QueryRow(t.Context(), question).Scan(answers...); err != nil {
		t.Fatalf("%s: %v", question, err)
	}
}

func TestPolledAndPushedSubscribersKeepTheTransportsPromises(t *testing.T) {
	settings := start(t)
	for _, settings.Poll = range []time.Duration{10 * time.Millisecond, 0} {
		t.Run(fmt.Sprintf("poll %s", settings.Poll), func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) transporttest.Subject { return subject(t, settings) })
		})
	}
}

func TestARowThatIsCommittedLateIsReadAllTheSame(t *testing.T) {
	settings := start(t)
	settings.Poll, settings.Run = 10*time.Millisecond, nuid.Next()
	made, err := postgres.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	b := transporttest.NewBed(t, transporttest.Subject{Transport: made, Traits: made.Traits(), Nodes: 1}, "a")
	b.Subscribe(0, "a")
	late, err := ask(t, settings).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var first, second int64
	table := pgx.Identifier{"fleet-" + settings.Run}.Sanitize()
	do(t, late, "INSERT INTO "+table+" (channel, message) VALUES ('a', 'late') RETURNING id", &first)
	b.Publish(b.Connect(0), "a", "early")
	do(t, ask(t, settings), "SELECT id FROM "+table, &second) // sees what is committed
	if second <= first {
		t.Fatalf("the row that is committed first has the smaller id, %d and not more than %d: this tests nothing", second, first)
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.AwaitMessage("early")
	if got := b.Received(); len(got) != 2 || got[0].Message != "late" || got[1].Message != "early" {
		t.Errorf("received %v", got)
	}
}

func TestLostSessionsAreReplacedAndMissNothing(t *testing.T) {
	settings := start(t)
	for _, settings.Poll = range []time.Duration{10 * time.Millisecond, 0} {
		b := transporttest.NewBed(t, subject(t, settings), "a")
		b.Subscribe(0, "a")
		connection := b.Connect(0)
		b.Publish(connection, "a", "before")
		b.Await(1)
		var ended int
		do(t, ask(t, settings), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "+
			"WHERE application_name = 'fleet' AND pid <> pg_backend_pid()", &ended)
		if ended < 2 {
			t.Fatalf("%d sessions were there to be ended", ended)
		}
		for end := time.Now().Add(transporttest.Timeout); len(b.Received()) < 2; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the sessions never came back")
			}
			_ = connection.Publish("a", []byte("after"), func(int64, error) {}) // fails while it notices
		}
	}
}

func TestAServerOfYourOwnIsReachedByItsURL(t *testing.T) {
	systemtest.Mark(t)
	folder := t.TempDir()
	script := func(arguments ...string) {
		t.Helper()
		if said, err := exec.Command("../../../scripts/postgres", append(arguments, "--dir", folder)...).CombinedOutput(); err != nil {
			t.Fatalf("scripts/postgres: %v: %s", err, said)
		}
	}
	script("start", "--tls", "--owner", fmt.Sprint(os.Getpid()))
	t.Cleanup(func() { script("remove") })
	access := map[string]string{}
	text, err := os.ReadFile(filepath.Join(folder, "postgres.env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		access[key] = value
	}
	_, address, _ := strings.Cut(access["LIFELINE_POSTGRES_URL"], "@")
	address, _, _ = strings.Cut(address, "?")
	s, err := scenario.Load("", "broker.url=postgres://"+address+"?tls=true", "broker.user=lifeline",
		"broker.password_file="+access["LIFELINE_POSTGRES_PASSWORD_FILE"], "broker.ca_file="+access["LIFELINE_POSTGRES_CA"])
	if err != nil {
		t.Fatal(err)
	}
	settings := found(t, s)
	b := transporttest.NewBed(t, subject(t, settings), "a")
	b.Subscribe(0, "a")
	b.Publish(b.Connect(0), "a", "x")
	b.Await(1)

	settings.Login.Password = "wrong"
	_, err = subject(t, settings).Transport.Connect(t.Context(), 0)
	var failure *result.Failure
	if !errors.As(err, &failure) || failure.Cause != result.Refused {
		t.Errorf("a wrong password: %v", err)
	}
	wrong := filepath.Join(folder, "wrong")
	if err := os.WriteFile(wrong, []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Broker.PasswordFile = wrong
	if _, err := broker.Start(t.Context(), s, t.TempDir()); !errors.As(err, &failure) || failure.Cause != result.Refused {
		t.Errorf("a wrong password, at the start: %v", err)
	}
}

func TestAnEmbeddedServerLeavesNoSharedMemory(t *testing.T) {
	systemtest.Mark(t)
	s := scenario.Default()
	s.Transport = "postgres"
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	cluster, err := broker.Start(t.Context(), s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", cluster.Processes()[0]))
	if err != nil {
		t.Fatal(err)
	}
	segments := regexp.MustCompile(`/dev/shm/PostgreSQL\.\d+`).FindAllString(string(maps), -1)
	if len(segments) == 0 {
		t.Fatal("the server has no segment: this tests nothing")
	}
	if err := cluster.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, segment := range segments {
		if _, err := os.Stat(segment); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", segment, err)
		}
	}
}
