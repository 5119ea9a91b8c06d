package transporttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"lifeline/loadgen/login"
)

// Door is a server's authentication configuration, with valid credentials.
type Door struct {
	Adjust func(node int, options *server.Options)
	Login  login.Login
}

// Doors are all kinds, by name.
func Doors(t testing.TB) map[string]Door {
	t.Helper()
	creds, trustOperator := credentials(t)
	seedFile, trustKey := nkey(t)
	const secret = "s3cret"
	return map[string]Door{
		"user and password": {
			func(_ int, options *server.Options) { options.Username, options.Password = "fleet", secret },
			login.Login{User: "fleet", Password: secret},
		},
		"token": {
			func(_ int, options *server.Options) { options.Authorization = secret },
			login.Login{Password: secret},
		},
		".creds file": {trustOperator, login.Login{CredentialsFile: creds}},
		"nkey":        {trustKey, login.Login{CredentialsFile: seedFile}},
	}
}

// credentials make a server trust an operator with one account, and write a .creds file for a user of that.
func credentials(t testing.TB) (file string, adjust func(node int, options *server.Options)) {
	t.Helper()
	operator, account, user := keys(t, nkeys.CreateOperator), keys(t, nkeys.CreateAccount), keys(t, nkeys.CreateUser)
	operatorClaims := jwt.NewOperatorClaims(public(t, operator))
	signed(t, operatorClaims, operator)
	accountID := public(t, account)
	accountToken := signed(t, jwt.NewAccountClaims(accountID), operator)
	userToken := signed(t, jwt.NewUserClaims(public(t, user)), account)
	content, err := jwt.FormatUserConfig(userToken, seed(t, user))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "fleet.creds", content), func(_ int, options *server.Options) {
		resolver := &server.MemAccResolver{}
		if err := resolver.Store(accountID, accountToken); err != nil {
			t.Fatal(err)
		}
		options.TrustedOperators = []*jwt.OperatorClaims{operatorClaims}
		options.AccountResolver = resolver
	}
}

// nkey makes a server trust a key, and writes a file with its seed.
func nkey(t testing.TB) (file string, adjust func(node int, options *server.Options)) {
	t.Helper()
	user := keys(t, nkeys.CreateUser)
	return write(t, "fleet.nk", seed(t, user)), func(_ int, options *server.Options) {
		options.Nkeys = []*server.NkeyUser{{Nkey: public(t, user)}}
	}
}

func write(t testing.TB, name string, content []byte) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func seed(t testing.TB, pair nkeys.KeyPair) []byte {
	t.Helper()
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

func keys(t testing.TB, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func public(t testing.TB, pair nkeys.KeyPair) string {
	t.Helper()
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signed(t testing.TB, claims jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	token, err := claims.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
