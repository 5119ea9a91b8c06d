package natstest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Credentials make a server trust an operator with one account, and write a .creds file for a user of that.
func Credentials(t testing.TB) (file string, adjust func(node int, options *server.Options)) {
	t.Helper()
	operator, account, user := keys(t, nkeys.CreateOperator), keys(t, nkeys.CreateAccount), keys(t, nkeys.CreateUser)
	operatorClaims := jwt.NewOperatorClaims(public(t, operator))
	signed(t, operatorClaims, operator)
	accountID := public(t, account)
	accountToken := signed(t, jwt.NewAccountClaims(accountID), operator)
	userToken := signed(t, jwt.NewUserClaims(public(t, user)), account)
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	content, err := jwt.FormatUserConfig(userToken, seed)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "fleet.creds")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, func(_ int, options *server.Options) {
		resolver := &server.MemAccResolver{}
		if err := resolver.Store(accountID, accountToken); err != nil {
			t.Fatal(err)
		}
		options.TrustedOperators = []*jwt.OperatorClaims{operatorClaims}
		options.AccountResolver = resolver
	}
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
