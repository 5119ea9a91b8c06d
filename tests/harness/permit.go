package harness

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const permissionsTakeEffect = time.Second

// Allow grants or revokes the publish permission of the user "emitter", on a broker with --auth (and --acl).
func (b *Broker) Allow(t T, publish bool) {
	t.Helper()
	if b.Kind == "kafka" {
		b.administer(t, func(ctx context.Context, admin *kadm.Client) error {
			acls := kadm.NewACLs().Allow("User:emitter").AllowHosts("*").Topics(topic).
				ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpWrite)
			if publish {
				_, err := admin.CreateACLs(ctx, acls)
				return err
			}
			_, err := admin.DeleteACLs(ctx, acls)
			return err
		})
		return
	}
	subjects := "lifeline.batches.*"
	if !publish {
		subjects = "lifeline.nothing.*"
	}
	b.reconfigure(t, "emitter-permissions.conf", `lifeline\.\w+\.\*`, subjects)
}

// LimitMessages limits the message size of the broker or its topic.
func (b *Broker) LimitMessages(t T, bytes int) {
	t.Helper()
	if b.Kind == "kafka" {
		b.administer(t, func(ctx context.Context, admin *kadm.Client) error {
			value := strconv.Itoa(bytes)
			_, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: "max.message.bytes", Value: &value}}, topic)
			return err
		})
		return
	}
	b.reconfigure(t, "nats.conf", `(?m)^max_payload: \d+\n|\z`, "max_payload: "+strconv.Itoa(bytes)+"\n")
}

// reconfigure rewrites the first match in a file of a NATS server's configuration, and has it read that again.
func (b *Broker) reconfigure(t T, file, pattern, replacement string) {
	t.Helper()
	path := filepath.Join(b.dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	place := regexp.MustCompile(pattern).FindIndex(text)
	if place == nil {
		t.Fatalf("%s has nothing like %q", path, pattern)
	}
	changed := string(text[:place[0]]) + replacement + string(text[place[1]:])
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	pid, err := strconv.Atoi(b.Env["LIFELINE_BROKER_PID"])
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGHUP)
	}
	if err != nil {
		t.Fatalf("the server cannot reload its configuration: %v", err)
	}
	time.Sleep(permissionsTakeEffect)
}

func (b *Broker) administer(t T, what func(ctx context.Context, admin *kadm.Client) error) {
	t.Helper()
	client, err := kgo.NewClient(b.kafkaOptions()...)
	if err != nil {
		t.Fatalf("no client: %v", err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), nextMessageWithin)
	defer cancel()
	if err := what(ctx, kadm.NewClient(client)); err != nil {
		t.Fatalf("the broker cannot be administered: %v", err)
	}
	time.Sleep(permissionsTakeEffect)
}
