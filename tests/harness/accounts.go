package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// StartNATSWithAccounts starts a NATS server in operator mode, which takes nothing but signed credentials, and makes
// such for one user: the broker's Env names their file.
func StartNATSWithAccounts(t T) *Broker {
	t.Helper()
	Run(t, 5*time.Minute, nil, Script("broker"), "install", "nats")
	dir := t.TempDir()
	operator, account, system, user := newKeys(t, nkeys.CreateOperator), newKeys(t, nkeys.CreateAccount),
		newKeys(t, nkeys.CreateAccount), newKeys(t, nkeys.CreateUser)

	accountClaims := jwt.NewAccountClaims(account.public)
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	operatorClaims := jwt.NewOperatorClaims(operator.public)
	operatorClaims.SystemAccount = system.public
	credentials, err := jwt.FormatUserConfig(sign(t, jwt.NewUserClaims(user.public), account), user.seed(t))
	if err != nil {
		t.Fatalf("no credentials: %v", err)
	}
	write(t, dir, "user.creds", string(credentials))
	write(t, dir, "server.conf", fmt.Sprintf(`
listen: "127.0.0.1:-1"
ports_file_dir: %q
jetstream { store_dir: %q, max_file_store: 64GB }
operator: %q
resolver: MEMORY
resolver_preload: { %s: %q, %s: %q }
`, dir, dir, sign(t, operatorClaims, operator), account.public, sign(t, accountClaims, operator),
		system.public, sign(t, jwt.NewAccountClaims(system.public), operator)))

	server := Start(t, nil, filepath.Join(Root(), "build", "deps", "bin", "nats-server"), "-c", filepath.Join(dir, "server.conf"))
	url := listeningAt(t, server, dir)
	return &Broker{Kind: "nats", URL: url, dir: dir,
		Env: map[string]string{"LIFELINE_URL": url, "LIFELINE_NATS_CREDS": filepath.Join(dir, "user.creds")}}
}

// listeningAt waits for the file in which this server writes its address.
func listeningAt(t T, server *Process, dir string) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("nats-server_%d.ports", server.PID()))
	for deadline := time.Now().Add(testTimeout); ; time.Sleep(20 * time.Millisecond) {
		var ports struct{ Nats []string }
		if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &ports) == nil && len(ports.Nats) > 0 {
			return strings.TrimSuffix(ports.Nats[0], "/")
		}
		if !server.Running() || time.Now().After(deadline) {
			t.Fatalf("nats-server does not listen\n%s", server.Stderr())
		}
	}
}

type keys struct {
	nkeys.KeyPair
	public string
}

func newKeys(t T, create func() (nkeys.KeyPair, error)) keys {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatalf("no keys: %v", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatalf("no public key: %v", err)
	}
	return keys{pair, public}
}

func (k keys) seed(t T) []byte {
	t.Helper()
	seed, err := k.Seed()
	if err != nil {
		t.Fatalf("no seed: %v", err)
	}
	return seed
}

func sign(t T, claims jwt.Claims, by keys) string {
	t.Helper()
	token, err := claims.Encode(by)
	if err != nil {
		t.Fatalf("cannot sign: %v", err)
	}
	return token
}

func write(t T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}
