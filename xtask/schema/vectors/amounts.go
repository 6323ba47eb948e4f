package main

import (
	"bytes"
	"encoding/json"
	"log"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A calculation is two quantities with what follows from them: how they compare, their sum and difference as texts, those as numbers.
type calculation struct {
	One        string `json:"one"`
	Other      string `json:"other"`
	Cmp        int    `json:"cmp"`
	Sum        number `json:"sum"`
	Difference number `json:"difference"`
	Rounded    number `json:"rounded"`
}

// A number is a quantity in all forms.
type number struct {
	Text  string `json:"text"`
	Value int64  `json:"value"`
	Milli int64  `json:"milli"`
	Int64 *int64 `json:"int64,omitempty"`
	Float string `json:"float"`
}

func describe(quantity resource.Quantity) number {
	described := number{Text: quantity.String(), Value: quantity.Value(), Milli: quantity.MilliValue()}
	if whole, ok := quantity.AsInt64(); ok {
		described.Int64 = &whole
	}
	// The bits of zero have a sign, which means nothing.
	described.Float = strconv.FormatUint(math.Float64bits(quantity.AsApproximateFloat64()+0), 16)
	return described
}

// writeAmounts makes the file of calculations: of quantities that matter, and of some hundred others.
func writeAmounts() {
	texts := []string{
		"0", "0e400", "-1", "1500m", "1n", "1Gi", "1e3", "8Ei", "1.5Ei", "9223372036854775807", "-9223372036854775808", "1e400", "1234567890123456789.123456789",
		"1", "100", "-1n", "1500u", "-1500u", "1536Mi", "1Ki", "-3Ki", "16Ei", "-16Ei", "0.1Ki", "9223372036854775806", "-9223372036854775807", "9223372036854775808", "9223372036854775807m", "9223372036854775", "9223372036854776",
		"18446744073709551615", "18446744073709551616", "18446744073709551617", "1e30", "9e99", "-1e400", "1000E", "1000000000000000000000", "1e18", "1e19", "999999999999999999e10",
		"9999999999999999999999999999999999999999", "-1234567890123456789.123456789", "-36893488147419103233.5", "36893488147419103233.5", "0.123456789123456789",
	}
	var calculations []calculation
	add := func(one, other string) {
		parse := func(text string) resource.Quantity { return must(resource.ParseQuantity(text)) }
		sum, difference, rounded := parse(one), parse(one), parse(one)
		sum.Add(parse(other))
		difference.Sub(parse(other))
		rounded.RoundUp(resource.Milli)
		compared := parse(one)
		calculations = append(calculations, calculation{
			One: one, Other: other, Cmp: compared.Cmp(parse(other)), Sum: describe(sum), Difference: describe(difference), Rounded: describe(rounded),
		})
	}
	for _, one := range texts {
		add(one, one)
		for _, other := range texts[:len(texts)/3] {
			add(one, other)
			add(other, one)
		}
	}
	var others []string
	for _, text := range quantities() {
		if quantity, err := resource.ParseQuantity(text); err == nil && len(quantity.String()) < 40 && len(text) < 40 && quantity.AsApproximateFloat64() < math.Inf(1) {
			others = append(others, text)
		}
	}
	random := rand.New(rand.NewSource(38))
	for range 200 {
		add(others[random.Intn(len(others))], others[random.Intn(len(others))])
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	for _, calculation := range calculations {
		if err := encoder.Encode(calculation); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(os.Args[1], "amounts.jsonl"), out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
