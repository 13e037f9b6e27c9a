package text

import (
	"fmt"
	"testing"
)

func TestEuros(t *testing.T) {
	if got := Euros(1205); got != "12.05" {
		t.Errorf("Euros(1205) = %q, want 12.05", got)
	}
}

func ExampleEuros() {
	fmt.Println(Euros(-150))
	// Output: -1.50
}
