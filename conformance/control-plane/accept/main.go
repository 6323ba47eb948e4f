// Command accept writes the order in which the real package puts the clauses of Accept headers, made at random.
//
// Usage: go run ./accept ORDERED (`cargo xtask schema` knows the path).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
)

// An ordering is a header, and the numbers (`n`) of its clauses by preference.
type ordering struct {
	Accept string `json:"accept"`
	Order  []int  `json:"order"`
}

var (
	types     = []string{"*/*", "*", "a/b", "a/*", "*/b", "a/b/", "a", "a/b/c"}
	qualities = []string{"", ";q=0.5", ";q=0.50000000001", ";q=1", ";q=x", ";q=nan", ";q=-nan", ";q=1e99", ";q= 1", ";q=0.1=", ";q=0.1=1", ";q=0x1p-2", ";q=0X_1.8p+0_1", ";q=0_0.3", ";q=0.3_"}
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./accept ORDERED")
	}
	source := rand.New(rand.NewSource(1))
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	write := func(clauses []string) {
		for number := range clauses {
			clauses[number] += fmt.Sprintf(";n=%d", number)
		}
		found := ordering{Accept: strings.Join(clauses, ",")}
		for _, clause := range goautoneg.ParseAccept(found.Accept) {
			number, err := strconv.Atoi(clause.Params["n"])
			if err != nil {
				log.Fatal(err)
			}
			found.Order = append(found.Order, number)
		}
		if err := encoder.Encode(found); err != nil {
			log.Fatal(err)
		}
	}
	for _, length := range []int{2, 5, 12, 13, 14, 20, 49, 50, 51, 60, 100, 130, 300} {
		// Of few types and qualities first, so that many clauses are equal.
		for variety := 2; variety <= len(qualities); variety += 3 {
			var clauses []string
			for range length {
				media := types[source.Intn(min(variety, len(types)))]
				clauses = append(clauses, media+qualities[source.Intn(variety)])
			}
			write(clauses)
		}
		for _, quality := range []func(int) int{
			func(number int) int { return number },
			func(number int) int { return length - number },
			func(number int) int { return min(number, length-number) },
			func(number int) int { return number * 7 % length },
		} {
			var clauses []string
			for number := range length {
				clauses = append(clauses, fmt.Sprintf("a/b;q=%d", quality(number)))
			}
			write(clauses)
		}
	}
	if err := os.WriteFile(os.Args[1], lines.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
