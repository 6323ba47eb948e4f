// Command parsed writes what Go's crypto/x509 reads in certificates and in requests for them.
//
// Usage: go run ./parsed FILE (`cargo xtask schema` knows the path).
//
// There is a request for each form that an attribute of a subject can have, and for each mistake in them; then requests and certificates with
// random mistakes, from a seed. Keys are Ed25519, or such as nobody has the private half of, so that the same seed gives the same bytes.
package main

import (
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"log"
	"math/big"
	"math/rand"
	"net"
	"os"
	"regexp"
	"time"
)

const (
	seed     = 1
	requests = 300
	certs    = 300
)

// pointer is that of a tag, which Go prints, and which is another one each time.
var pointer = regexp.MustCompile(`tag:0x[0-9a-f]+`)

var now = time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)

// A vector is a question and its answer.
type vector struct {
	Request       []byte   `json:"request,omitempty"`
	Certificate   []byte   `json:"certificate,omitempty"`
	Error         string   `json:"error,omitempty"`
	CommonName    string   `json:"commonName,omitempty"`
	Organizations []string `json:"organizations,omitempty"`
	// What the check of the request's own signature says.
	Signature string `json:"signature,omitempty"`
}

// A node is an element of DER: its content is that of its children, if it has some.
type node struct {
	tag      []byte
	content  []byte
	children []*node
	// The length that is written, if it is not the one of the content.
	length []byte
}

func tlv(tag byte, content ...byte) *node { return &node{tag: []byte{tag}, content: content} }

func list(tag byte, children ...*node) *node { return &node{tag: []byte{tag}, children: children} }

func text(tag byte, content string) *node { return tlv(tag, []byte(content)...) }

func (n *node) bytes() []byte {
	content := n.content
	for _, child := range n.children {
		content = append(content[:len(content):len(content)], child.bytes()...)
	}
	length := n.length
	switch size := len(content); {
	case length != nil:
	case size < 0x80:
		length = []byte{byte(size)}
	case size < 0x100:
		length = []byte{0x81, byte(size)}
	default:
		length = []byte{0x82, byte(size >> 8), byte(size)}
	}
	return append(append(append([]byte{}, n.tag...), length...), content...)
}

// parse reads DER, as far as it is well-formed, as a tree.
func parse(der []byte) []*node {
	var nodes []*node
	for len(der) > 0 {
		var raw asn1.RawValue
		rest, err := asn1.Unmarshal(der, &raw)
		if err != nil {
			return append(nodes, &node{content: der})
		}
		one := &node{tag: raw.FullBytes[:1], content: raw.Bytes}
		if raw.IsCompound {
			one.content, one.children = nil, parse(raw.Bytes)
		}
		nodes, der = append(nodes, one), rest
	}
	return nodes
}

// all are the elements of a tree.
func (n *node) all() []*node {
	nodes := []*node{n}
	for _, child := range n.children {
		nodes = append(nodes, child.all()...)
	}
	return nodes
}

func identifier(numbers ...int) *node {
	der, err := asn1.Marshal(asn1.ObjectIdentifier(numbers))
	if err != nil {
		log.Fatal(err)
	}
	return parse(der)[0]
}

func attribute(kind, value *node) *node { return list(0x31, list(0x30, kind, value)) }

var (
	commonName   = identifier(2, 5, 4, 3)
	organization = identifier(2, 5, 4, 10)
	unit         = identifier(2, 5, 4, 11)
	masters      = attribute(organization, text(0x0c, "system:masters"))
	key          = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	ed           = identifier(1, 3, 101, 112)
	keyInfo      = list(0x30, list(0x30, ed), tlv(3, append([]byte{0}, key.Public().(ed25519.PublicKey)...)...))
)

// parts are those of a request.
type parts struct{ version, subject, info, attributes *node }

func ordinary(attributes ...*node) parts {
	return parts{tlv(2, 0), list(0x30, attributes...), keyInfo, list(0xa0)}
}

// signed is a request with a good signature.
func (p parts) signed() *node {
	fields := []*node{}
	for _, part := range []*node{p.version, p.subject, p.info, p.attributes} {
		if part != nil {
			fields = append(fields, part)
		}
	}
	signed := list(0x30, fields...)
	signature := append([]byte{0}, ed25519.Sign(key, signed.bytes())...)
	return list(0x30, signed, list(0x30, ed), tlv(3, signature...))
}

// values are forms of the value of an attribute, good ones and bad ones.
func values() []*node {
	return []*node{
		text(0x0c, "ü"), tlv(0x0c, 0xff), tlv(0x0c), text(0x12, "12 3"), text(0x12, "a"), text(0x13, "A*&"), text(0x13, "a@b"), text(0x13, "ü"),
		tlv(0x14, 0xe9, 0x80), text(0x16, "a@b"), tlv(0x16, 0x80), tlv(0x1e, 0, 'a', 1, 0), tlv(0x1e, 0), tlv(0x1e, 0, 'a', 0, 0), tlv(0x1e, 0xd8, 0),
		tlv(0x1e, 0xff, 0xfe), tlv(0x1c, 0, 0, 0, 'a'), text(0x1b, "a"), text(0x1a, "a"), tlv(2, 1), tlv(2), tlv(2, 0, 1), tlv(2, 0xff, 0x80),
		tlv(2, 1, 2, 3, 4, 5, 6, 7, 8, 9), tlv(1, 0xff), tlv(1, 1), tlv(1), tlv(5), tlv(5, 0), list(0x30, tlv(2, 1)), list(0x31), tlv(4, 1, 2),
		tlv(3, 0, 1), tlv(3), tlv(3, 8, 0), tlv(3, 1, 1), tlv(3, 7), text(0x17, "260708091011Z"), text(0x17, "2607080910Z"),
		text(0x17, "260708091011+0100"), text(0x18, "20260708091011Z"), text(0x18, "20260708091011.5Z"), tlv(6, 0x55, 4), tlv(6), tlv(6, 0x80, 1),
		tlv(6, 0x8f, 0xff, 0xff, 0xff, 0xff, 0x7f), tlv(6, 0x55, 0x84), tlv(0x80, 1), list(0xa0, tlv(2, 1)), text(0x4c, "a"), text(0x2c, "a"),
		{tag: []byte{0x1f, 0x81, 0x01}, content: []byte{1}}, {tag: []byte{0x1f, 0x01}}, {tag: []byte{0x1f, 0x80, 0x01}}, {tag: []byte{0x1f}},
		{tag: []byte{0x0c}, content: []byte("a"), length: []byte{0x81, 1}}, {tag: []byte{0x0c}, content: []byte("a"), length: []byte{0x82, 0, 1}},
		{tag: []byte{0x0c}, content: []byte("a"), length: []byte{0x80}}, {tag: []byte{0x0c}, content: []byte("a"), length: []byte{2}},
		{tag: []byte{0x0c}, content: []byte("a"), length: []byte{0x84, 0x7f, 0xff, 0xff, 0xff}}, {tag: []byte{0x0c}, length: []byte{0x85, 1, 0, 0, 0, 0}},
	}
}

// subjects are forms of a whole subject.
func subjects() []*node {
	deep := text(0x0c, "a")
	for range 1000 {
		deep = list(0x30, deep)
	}
	return []*node{
		list(0x30), list(0x31), tlv(0x30, 1), tlv(0x30, 0x31), tlv(4), list(0x30, list(0x31)), list(0x30, list(0x30, list(0x30, commonName, text(0x0c, "a")))),
		list(0x30, list(0x31, list(0x31, commonName, text(0x0c, "a")))), list(0x30, list(0x31, list(0x30))), list(0x30, list(0x31, list(0x30, commonName))),
		list(0x30, list(0x31, list(0x30, text(0x0c, "a"), commonName))), list(0x30, list(0x31, list(0x30, commonName, text(0x0c, "a"), text(0x0c, "b")))),
		list(0x30, list(0x31, list(0x30, commonName, text(0x0c, "a")), list(0x30, organization, text(0x0c, "b")))),
		list(0x30, masters, masters, attribute(commonName, text(0x0c, "a")), attribute(commonName, text(0x13, "b"))),
		list(0x30, masters, attribute(commonName, text(0x0c, "a")), attribute(commonName, tlv(2, 1))),
		list(0x30, masters, attribute(unit, deep)), list(0x30, masters, &node{tag: []byte{0x31}, content: []byte{0x30, 0x20, 0x06}}),
		list(0x30, masters, attribute(tlv(6, 0x55, 0x84), text(0x0c, "a"))),
	}
}

func extensionRequest(extensions ...*node) *node {
	return list(0xa0, list(0x30, identifier(1, 2, 840, 113549, 1, 9, 14), list(0x31, list(0x30, extensions...))))
}

func extension(kind *node, rest ...*node) *node { return list(0x30, append([]*node{kind}, rest...)...) }

func octets(content *node) *node { return tlv(4, content.bytes()...) }

// attributes are forms of the attributes of a request.
func attributes() []*node {
	names := identifier(2, 5, 29, 17)
	good := octets(list(0x30, text(0x82, "a.example.com"), tlv(0x87, 10, 0, 0, 1), text(0x81, "a@b"), text(0x86, "spiffe://a/b")))
	return []*node{
		nil, list(0xa0), tlv(0x80), list(0x30), list(0xa0, tlv(2, 1)), list(0xa0, list(0x30)), list(0xa0, list(0x30, unit, list(0x31))), tlv(0xa0, 1), tlv(0xa0, 0x30, 9),
		extensionRequest(), extensionRequest(extension(names, good)), extensionRequest(extension(names, tlv(1, 0xff), good)),
		extensionRequest(extension(names, tlv(1, 2), good)), extensionRequest(extension(names, good), extension(names, good)), extensionRequest(extension(names)),
		extensionRequest(extension(names, octets(list(0x30, tlv(0x87, 1))))), extensionRequest(extension(names, octets(list(0x30, tlv(0x82, 0xff))))),
		extensionRequest(extension(names, octets(list(0x30, tlv(0x81, 0xff))))), extensionRequest(extension(names, octets(list(0x30, tlv(0x86, 0xff))))),
		extensionRequest(extension(names, octets(tlv(4)))), extensionRequest(extension(names, octets(tlv(0x30, 1)))), extensionRequest(tlv(2, 1)),
		list(0xa0, list(0x30, identifier(1, 2, 840, 113549, 1, 9, 14), list(0x31, tlv(2, 1)))),
	}
}

// keys are forms of public keys.
func keys() []*node {
	rsa, ec, null := identifier(1, 2, 840, 113549, 1, 1, 1), identifier(1, 2, 840, 10045, 2, 1), tlv(5)
	modulus := tlv(2, append([]byte{0}, make([]byte, 256)...)...)
	for i := range modulus.content[1:] {
		modulus.content[i+1] = 0xc3
	}
	bits := func(content []byte) *node { return tlv(3, append([]byte{0}, content...)...) }
	pair := func(numbers ...*node) *node { return bits(list(0x30, numbers...).bytes()) }
	keys := []*node{
		list(0x30, list(0x30, rsa, null), pair(modulus, tlv(2, 1, 0, 1))), list(0x30, list(0x30, rsa), pair(modulus, tlv(2, 1, 0, 1))),
		list(0x30, list(0x30, rsa, null), pair(modulus)), list(0x30, list(0x30, rsa, null), pair(tlv(2, 0x80), tlv(2, 3))),
		list(0x30, list(0x30, rsa, null), pair(modulus, tlv(2, 0xff))), list(0x30, list(0x30, rsa, null), pair(tlv(2, 0, 1), tlv(2, 3))),
		list(0x30, list(0x30, rsa, null), bits(nil)), list(0x30, list(0x30, ed, null), keyInfo.children[1]), list(0x30, list(0x30, ed), bits([]byte{1})),
		list(0x30, list(0x30, ec), bits([]byte{4})), list(0x30, list(0x30, ec, identifier(1, 2, 3)), bits([]byte{4})), list(0x30, list(0x30), keyInfo.children[1]),
		list(0x30, list(0x30, identifier(1, 2, 3)), bits(nil)), list(0x30, list(0x30, ed), tlv(3)), list(0x30, list(0x30, ed)), tlv(0x30), list(0x31, list(0x30, ed)),
		list(0x30, list(0x30, identifier(1, 2, 840, 10040, 4, 1), list(0x30, tlv(2, 7), tlv(2, 3), tlv(2, 2))), bits(tlv(2, 5).bytes())),
		list(0x30, list(0x30, identifier(1, 2, 840, 10040, 4, 1), list(0x30, tlv(2, 7), tlv(2, 0), tlv(2, 2))), bits(tlv(2, 5).bytes())),
		list(0x30, list(0x30, identifier(1, 2, 840, 10040, 4, 1)), bits(tlv(2, 5).bytes())), list(0x30, list(0x30, identifier(1, 2, 840, 10040, 4, 1)), bits(nil)),
	}
	for _, curve := range []struct {
		elliptic.Curve
		id *node
	}{
		{elliptic.P224(), identifier(1, 3, 132, 0, 33)}, {elliptic.P256(), identifier(1, 2, 840, 10045, 3, 1, 7)},
		{elliptic.P384(), identifier(1, 3, 132, 0, 34)}, {elliptic.P521(), identifier(1, 3, 132, 0, 35)},
	} {
		point := elliptic.Marshal(curve, curve.Params().Gx, curve.Params().Gy)
		info := list(0x30, ec, curve.id)
		keys = append(keys, list(0x30, info, bits(point)), list(0x30, info, bits(point[:9])), list(0x30, info, bits(append([]byte{2}, point[1:]...))))
		if curve.Curve != elliptic.P224() {
			wrong := append([]byte{}, point...)
			wrong[len(wrong)-1] ^= 1
			keys = append(keys, list(0x30, info, bits(wrong)))
		}
	}
	return keys
}

type generator struct{ *rand.Rand }

// spoil makes a mistake somewhere in the tree.
func (g *generator) spoil(root *node) {
	nodes := root.all()
	one := nodes[g.Intn(len(nodes))]
	content := func() byte { return byte(g.Intn(256)) }
	switch g.Intn(9) {
	case 0:
		one.tag = []byte{[]byte{0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x30, 0x31, 0x80, 0xa0, 0xa3}[g.Intn(16)]}
	case 1:
		if len(one.children) > 0 {
			index := g.Intn(len(one.children))
			one.children = append(append([]*node{}, one.children[:index]...), one.children[index+1:]...)
		}
	case 2:
		if len(one.children) > 0 {
			one.children = append(append([]*node{}, one.children...), one.children[g.Intn(len(one.children))])
		}
	case 3:
		if len(one.children) > 1 {
			one.children = append([]*node{}, one.children...)
			g.Shuffle(len(one.children), func(a, b int) { one.children[a], one.children[b] = one.children[b], one.children[a] })
		}
	case 4:
		if len(one.content) > 0 {
			one.content = append([]byte{}, one.content...)
			one.content[g.Intn(len(one.content))] = content()
		}
	case 5:
		one.content = one.content[:g.Intn(len(one.content)+1)]
	case 6:
		one.length = [][]byte{{0x80}, {0x81, 1}, {0x82, 0, 0x80}, {byte(g.Intn(128))}, {0x84, 0xff, 0xff, 0xff, 0xff}}[g.Intn(5)]
	case 7:
		one.children, one.content = nil, []byte{content(), content(), content()}
	case 8:
		one.content = append(append([]byte{}, one.content...), content())
	}
}

// mangle makes a mistake in the bytes.
func (g *generator) mangle(der []byte) []byte {
	der = append([]byte{}, der...)
	switch g.Intn(3) {
	case 0:
		return der[:g.Intn(len(der))]
	case 1:
		return append(der, byte(g.Intn(256)))
	default:
		der[g.Intn(len(der))] ^= 1 << g.Intn(8)
		return der
	}
}

func (g *generator) certificate() []byte {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(300), Subject: pkix.Name{CommonName: "a", Organization: []string{"o"}}, NotBefore: now, NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true, IsCA: true, MaxPathLen: 2,
		SubjectKeyId: []byte{1, 2}, DNSNames: []string{"a.example.com"}, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}, EmailAddresses: []string{"a@b"},
		PermittedDNSDomains: []string{"example.com"}, ExcludedIPRanges: []*net.IPNet{{IP: net.IPv4(10, 1, 0, 0).To4(), Mask: net.CIDRMask(16, 32)}},
		CRLDistributionPoints: []string{"http://a"}, OCSPServer: []string{"http://b"}, Policies: []x509.OID{},
	}
	der, err := x509.CreateCertificate(g, template, template, key.Public(), key)
	if err != nil {
		log.Fatal(err)
	}
	return der
}

func ofRequest(der []byte) vector {
	made := vector{Request: der}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		made.Error = pointer.ReplaceAllString(err.Error(), "tag:0xc000000000")
		return made
	}
	made.CommonName, made.Organizations = request.Subject.CommonName, request.Subject.Organization
	if err := request.CheckSignature(); err != nil {
		made.Signature = err.Error()
	}
	return made
}

func ofCertificate(der []byte) vector {
	made := vector{Certificate: der}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		made.Error = err.Error()
		return made
	}
	made.CommonName, made.Organizations = certificate.Subject.CommonName, certificate.Subject.Organization
	return made
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: parsed FILE")
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	encoder := json.NewEncoder(file)
	encoder.SetEscapeHTML(false)
	write := func(vectors ...vector) {
		for _, one := range vectors {
			if err := encoder.Encode(one); err != nil {
				log.Fatal(err)
			}
		}
	}
	for _, value := range values() {
		write(ofRequest(ordinary(masters, attribute(unit, value)).signed().bytes()))
		write(ofRequest(ordinary(attribute(organization, value)).signed().bytes()))
	}
	for _, subject := range subjects() {
		made := ordinary()
		made.subject = subject
		write(ofRequest(made.signed().bytes()))
	}
	for _, version := range []*node{nil, tlv(2), tlv(2, 5), tlv(2, make([]byte, 20)...), tlv(2, append([]byte{1}, make([]byte, 19)...)...), tlv(0x0a, 0)} {
		made := ordinary(masters)
		made.version = version
		write(ofRequest(made.signed().bytes()))
	}
	for _, attributes := range attributes() {
		made := ordinary(masters)
		made.attributes = attributes
		write(ofRequest(made.signed().bytes()))
	}
	for _, info := range keys() {
		made := ordinary(masters)
		made.info = info
		write(ofRequest(made.signed().bytes()))
	}
	g := &generator{rand.New(rand.NewSource(seed))}
	good := ordinary(attribute(commonName, text(0x0c, "a")), masters)
	good.attributes = attributes()[10]
	certificate := g.certificate()
	for range requests {
		root := parse(good.signed().bytes())[0]
		g.spoil(root)
		der := root.bytes()
		if g.Intn(4) == 0 {
			der = g.mangle(der)
		}
		write(ofRequest(der))
	}
	write(ofCertificate(certificate))
	for range certs {
		root := parse(certificate)[0]
		g.spoil(root)
		der := root.bytes()
		if g.Intn(4) == 0 {
			der = g.mangle(der)
		}
		write(ofCertificate(der))
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
