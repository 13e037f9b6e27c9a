package ledger

import (
	"reflect"
	"testing"
)

var entries = []Entry{{"rent", -70000}, {"salary", 250000}, {"rent", -2500}}

func TestBalance(t *testing.T) {
	tests := []struct {
		name    string
		account string
		want    int
	}{
		{name: "one entry", account: "salary", want: 250000},
		{name: "two entries", account: "rent", want: -72500},
		{name: "no entry", account: "food", want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Balance(entries, tt.account); got != tt.want {
				t.Errorf("Balance(%q) = %d, want %d", tt.account, got, tt.want)
			}
		})
	}
}

func TestNothingIsZero(t *testing.T) {
	if got := Balance(nil, "rent"); got != 0 {
		t.Errorf("Balance(nil) = %d, want 0", got)
	}
}

func TestAccounts(t *testing.T) {
	if got := Accounts(entries); !reflect.DeepEqual(got, []string{"rent", "salary"}) {
		t.Errorf("Accounts = %q", got)
	}
}
