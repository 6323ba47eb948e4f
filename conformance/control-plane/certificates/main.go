// Command certificates writes what Go's crypto/x509 says of chains of certificates.
//
// Usage: go run ./certificates FILE (`cargo xtask schema` knows the path).
//
// The chains are random ones from a seed: an authority or two, up to two below them, and a certificate for hosts or clients, each of which may be
// wrong in several ways. Keys are Ed25519, so that the same seed gives the same bytes.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"log"
	"math/big"
	"math/rand"
	"net"
	"os"
	"time"
)

const (
	seed   = 1
	random = 200
)

var now = time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)

// A vector is a question and its answer.
type vector struct {
	Roots  [][]byte  `json:"roots"`
	Chain  [][]byte  `json:"chain"`
	Host   string    `json:"host,omitempty"`
	Client bool      `json:"client,omitempty"`
	Now    time.Time `json:"now"`
	Error  string    `json:"error,omitempty"`
}

// An issuer is a certificate with its key.
type issuer struct {
	certificate *x509.Certificate
	key         ed25519.PrivateKey
}

type generator struct {
	*rand.Rand
	serial int64
}

// one tells whether something of that probability, in percent, is so.
func (g *generator) one(percent int) bool { return g.Intn(100) < percent }

func pick[T any](g *generator, among ...T) T { return among[g.Intn(len(among))] }

func (g *generator) key() ed25519.PrivateKey {
	bytes := make([]byte, ed25519.SeedSize)
	g.Read(bytes)
	return ed25519.NewKeyFromSeed(bytes)
}

func (g *generator) template(name string) *x509.Certificate {
	g.serial++
	made := &x509.Certificate{
		SerialNumber: big.NewInt(g.serial),
		Subject:      pkix.Name{CommonName: name, Organization: []string{"org"}},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(time.Hour),
	}
	if g.one(8) {
		made.Subject.CommonName = ""
		made.Subject.OrganizationalUnit = []string{name}
		if g.one(50) {
			made.Subject.Organization = nil
		}
	}
	switch g.Intn(40) {
	case 0:
		made.NotAfter = now.Add(-time.Minute)
	case 1:
		made.NotBefore = now.Add(time.Minute)
	}
	if g.one(15) {
		made.ExtKeyUsage = pick(g,
			[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
			[]x509.ExtKeyUsage{x509.ExtKeyUsageAny},
			[]x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth})
	}
	if g.one(2) {
		unknown := pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}
		made.ExtraExtensions = append(made.ExtraExtensions, unknown)
	}
	return made
}

func network(text string) *net.IPNet {
	_, found, err := net.ParseCIDR(text)
	if err != nil {
		log.Fatal(err)
	}
	return found
}

func (g *generator) authority(name string) *x509.Certificate {
	made := g.template(name)
	made.BasicConstraintsValid, made.IsCA = true, true
	made.KeyUsage = x509.KeyUsageCertSign
	switch g.Intn(12) {
	case 0:
		made.IsCA = false
	case 1:
		made.BasicConstraintsValid, made.IsCA = false, false
	case 2:
		made.KeyUsage = x509.KeyUsageDigitalSignature
	case 3:
		made.KeyUsage = 0
	case 4:
		made.MaxPathLenZero = true
	case 5:
		made.MaxPathLen = 1
	}
	if g.one(30) {
		made.PermittedDNSDomainsCritical = g.one(50)
		switch g.Intn(8) {
		case 0:
			made.PermittedDNSDomains = []string{"example.com"}
		case 1:
			made.PermittedDNSDomains = []string{".example.com", "localhost"}
		case 2:
			made.ExcludedDNSDomains = []string{"b.Example.com", "example.org"}
		case 3:
			made.ExcludedDNSDomains = []string{"a.b.example.com", "b.example.com"}
		case 4:
			made.PermittedIPRanges = []*net.IPNet{network("127.0.0.0/8")}
		case 5:
			made.ExcludedIPRanges = []*net.IPNet{network("127.0.0.0/16"), network("fe80::/10")}
		case 6:
			made.PermittedIPRanges = []*net.IPNet{network("10.0.0.0/9"), network("::/0")}
		case 7:
			made.ExcludedDNSDomains = []string{""}
		}
	}
	return made
}

func (g *generator) leaf() *x509.Certificate {
	made := g.template("leaf")
	made.KeyUsage = x509.KeyUsageDigitalSignature
	switch g.Intn(10) {
	case 0:
		made.Subject.CommonName = pick(g, "example.com", "*.example.com", "127.0.0.1")
	case 1:
		made.DNSNames = []string{"*.b.example.com", "B.example.com", "a_b.example.com"}
	case 2:
		made.DNSNames = []string{"other.example.org"}
		made.EmailAddresses = []string{"a@example.com"}
	case 3:
		made.EmailAddresses = []string{"a@example.com"}
	case 4:
		made.IPAddresses = []net.IP{net.ParseIP("10.1.2.3"), net.ParseIP("fe80::1")}
	case 5:
		made.DNSNames = []string{"*", "a..b", "-x.example.com", "*.*.example.com"}
	default:
		made.DNSNames = []string{"b.example.com", "*.example.com", "localhost"}
		made.IPAddresses = []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("::1")}
	}
	if g.one(10) {
		made.BasicConstraintsValid, made.IsCA, made.KeyUsage = true, true, x509.KeyUsageCertSign
	}
	return made
}

// sign makes a certificate, by itself if there is no issuer.
func (g *generator) sign(made *x509.Certificate, by *issuer) *issuer {
	key := g.key()
	if made.IsCA || g.one(20) {
		made.SubjectKeyId = []byte{byte(g.serial), byte(g.serial >> 8), 7}
	}
	if by == nil {
		by = &issuer{made, key}
	} else if g.one(15) {
		made.AuthorityKeyId = []byte{1, 2, 3}
	}
	der, err := x509.CreateCertificate(nil, made, by.certificate, key.Public(), by.key)
	if err != nil {
		log.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		log.Fatal(err)
	}
	return &issuer{signed, key}
}

func (g *generator) vector() vector {
	asked := vector{Now: now, Client: g.one(25)}
	names := []string{"one", "two"}
	roots := []*issuer{g.sign(g.authority(pick(g, names...)), nil), g.sign(g.authority(pick(g, names...)), nil)}
	by := roots[0]
	var between []*issuer
	for range g.Intn(3) {
		by = g.sign(g.authority(pick(g, "one", "three", "four")), by)
		between = append(between, by)
	}
	var leaf *issuer
	if g.one(12) {
		leaf = g.sign(g.leaf(), nil)
	} else {
		leaf = g.sign(g.leaf(), by)
	}
	trusted := roots[:1+g.Intn(2)]
	if g.one(15) {
		trusted = roots[1:]
	}
	if g.one(20) {
		trusted = append([]*issuer{leaf}, trusted[1:]...)
	}
	if len(between) > 0 && g.one(15) {
		trusted = append(trusted[:len(trusted):len(trusted)], between[len(between)-1])
	}
	for _, one := range trusted {
		asked.Roots = append(asked.Roots, one.certificate.Raw)
	}
	asked.Chain = append(asked.Chain, leaf.certificate.Raw)
	for _, one := range between {
		if !g.one(10) {
			asked.Chain = append(asked.Chain, one.certificate.Raw)
		}
	}
	if g.one(15) {
		asked.Chain = append(asked.Chain, roots[0].certificate.Raw)
	}
	if !asked.Client && g.one(70) {
		asked.Host = pick(g, append([]string{"127.0.0.1"}, leaf.certificate.DNSNames...)...)
	} else if !asked.Client {
		asked.Host = pick(g, "b.example.com", "B.Example.COM.", "x.example.com", "x.b.example.com", "example.com", "localhost",
			"127.0.0.1", "::1", "10.1.2.3", "a_b.example.com", "a..b", "-x.example.com", "fe80::1", "127.0.0.1")
	}
	asked.Error = answer(asked)
	return asked
}

func answer(asked vector) string {
	pool, between := x509.NewCertPool(), x509.NewCertPool()
	parse := func(der []byte) *x509.Certificate {
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			log.Fatal(err)
		}
		return parsed
	}
	for _, root := range asked.Roots {
		pool.AddCert(parse(root))
	}
	for _, one := range asked.Chain[1:] {
		between.AddCert(parse(one))
	}
	options := x509.VerifyOptions{
		DNSName: asked.Host, Roots: pool, Intermediates: between, CurrentTime: asked.Now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if asked.Client {
		options.KeyUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	if _, err := parse(asked.Chain[0]).Verify(options); err != nil {
		return err.Error()
	}
	return ""
}

func main() {
	g := &generator{Rand: rand.New(rand.NewSource(seed))}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for range random {
		if err := encoder.Encode(g.vector()); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(os.Args[1], out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
