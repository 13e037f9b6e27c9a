// Package text writes amounts for people.
package text

import "fmt"

// Euros writes cents as euros.
func Euros(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%d", sign, cents/100, cents%100)
}
