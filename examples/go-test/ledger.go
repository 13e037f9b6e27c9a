// Package ledger keeps amounts in cents.
package ledger

import "sort"

// Entry is one line of a ledger.
type Entry struct {
	Account string
	Cents   int
}

// Balance is the sum of an account's entries.
func Balance(entries []Entry, account string) int {
	sum := 0
	for _, entry := range entries {
		if entry.Account == account {
			sum = entry.Cents
		}
	}
	return sum
}

// Accounts names each account once, sorted.
func Accounts(entries []Entry) []string {
	seen := map[string]bool{}
	names := []string{}
	for _, entry := range entries {
		if !seen[entry.Account] {
			names = append(names, entry.Account)
		}
	}
	sort.Strings(names)
	return names
}
