//! The texts and numbers that values are made of, and their properties.

/// A format of texts, and texts that have it.
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) texts: &'static [&'static str],
}

const fn format(name: &'static str, texts: &'static [&'static str]) -> Format {
    Format { name, texts }
}

/// The formats that kube-apiserver enforces, spelt in more than one way, and some that it does not know.
pub(super) const FORMATS: [Format; 32] = [
    format("bsonobjectid", &["507f1f77bcf86cd799439011"]),
    format("uri", &["https://example.com/a?b=c", "urn:a:b"]),
    format("email", &["a@example.com"]),
    format("hostname", &["example.com", "a"]),
    format("ipv4", &["10.0.0.1"]),
    format("ipv6", &["2001:db8::1", "::"]),
    format("cidr", &["10.0.0.0/8", "2001:db8::/32"]),
    format("mac", &["01:23:45:67:89:ab"]),
    format("uuid", &["a3bb189e-8bf9-3888-9912-ace4e6543002", "7D4448409DC011D1B2455FFDCE74FAD2"]),
    format("uuid3", &["a3bb189e-8bf9-3888-9912-ace4e6543002"]),
    format("uuid4", &["7d444840-9dc0-41d1-b245-5ffdce74fad2"]),
    format("uuid5", &["886313e1-3b8a-5372-9b90-0c9aee199e5d"]),
    format("isbn", &["0321751043", "978-0321751041"]),
    format("isbn10", &["0321751043"]),
    format("isbn13", &["978-0321751041"]),
    format("creditcard", &["4111111111111111", "4111-1111-1111-1111"]),
    format("ssn", &["111-22-3333"]),
    format("hexcolor", &["#ffFFff", "abc"]),
    format("rgbcolor", &["rgb(1,2,3)"]),
    format("byte", &["aGVsbG8=", "AAAA"]),
    format("password", &["abc", ""]),
    format("date", &["2024-02-29"]),
    format("duration", &["1h30m", "22 ns", "5s"]),
    format("datetime", &["2024-02-29T12:00:00Z"]),
    format("date-time", &["2024-02-29T12:00:00Z", "2014-12-15T19:30:20.123+01:00"]),
    format("k8s-short-name", &["a-b", "abc"]),
    format("k8s-long-name", &["a.b-c.d", "abc"]),
    format("bson-object-id", &["507f1f77bcf86cd799439011"]),
    format("IPv4", &["10.0.0.1", "x"]),
    format("binary", &["abc"]),
    format("int32", &["abc", "5"]),
    format("no-such-format", &["abc"]),
];

/// The number formats, also those that are none.
pub(super) const NUMBER_FORMATS: [&str; 7] = ["int32", "int64", "float", "double", "uint8", "date", "no-such-format"];

/// Patterns, each with plain texts that match.
pub(super) const PATTERNS: [(&str, &[&str]); 9] = [
    ("^[a-z]+$", &["abc", "x"]),
    ("^[a-z0-9-]{1,5}$", &["a-1", "x", "abc"]),
    ("b", &["abc", "a b"]),
    (r"^\d+$", &["0123456789", "5"]),
    ("^.{2,4}$", &["日本", "abc", "a b", "a-1"]),
    ("(?i)^ABC", &["abc"]),
    (r"^\p{L}+$", &["héllo", "日本", "abc", "x"]),
    ("^[[:word:]]*$", &["", "abc", "x", "5", "0123456789"]),
    ("", &["", "abc", "🙂"]),
];

/// A pattern that no text of these matches.
pub(super) const HOPELESS: &str = "^nothing like it$";

/// Plain texts.
pub(super) const TEXTS: [&str; 12] =
    ["abc", "", "x", "a b", "a-1", "5", "0123456789", "héllo", "日本", "🙂", "a\"b\\c", "a\nb\t"];

/// Texts that are almost of a format.
pub(super) const ODD: [&str; 39] = [
    "507f1f77bcf86cd79943901",
    "http//x",
    "/path",
    "a@",
    "A <a@example.com>",
    "a@b",
    "-example.com",
    "example..com",
    "EXAMPLE.com.",
    "10.0.0.01",
    "256.1.1.1",
    "::ffff:1.2.3.4",
    "fe80::1%eth0",
    "10.0.0.1/33",
    "10.0.0.0/08",
    "01-23-45-67-89-ab",
    "0123.4567.89ab",
    "7d444840-9dc0-11d1-b245-5ffdce74fad",
    "0-321-75104-3",
    "0321751044",
    "4111 1111 1111 1111",
    "4111111111111112",
    "111-223333",
    "#ff",
    "rgb(256,0,0)",
    "rgb(1, 2, 3)",
    "aGVsbG8",
    "a_-=",
    "2024-02-30",
    "2024-2-3",
    "1.5h",
    "3 days",
    "-5s",
    "0",
    "2024-02-29t12:00:00z",
    "2024-02-29T25:00:00Z",
    "2024-02-29T12:00:00",
    "A-b",
    "-",
];

/// Integers.
pub(super) const INTEGERS: [i64; 16] = [
    0,
    1,
    -1,
    2,
    5,
    7,
    100,
    97,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    i32::MIN as i64 - 1,
    (1 << 53) + 1,
    -(1 << 53),
    1 << 62,
    i64::MAX,
    i64::MIN,
];

/// Numbers with a fraction, or too large for an integer, or written as if.
pub(super) const FLOATS: [f64; 14] =
    [0.5, -0.5, 1.5, 1.0, 0.1, 0.3, 2.25, 1e3, 1e20, -1e-7, 3.4e38, 3.5e38, 9.3e18, 1.000_000_000_01];

/// Names of fields: plain ones, and some that expressions have to escape.
pub(super) const NAMES: [&str; 14] =
    ["a", "b", "c", "name", "size", "kind", "spec", "with-dash", "x.y", "a/b", "namespace", "in", "metadata2", "__a"];

/// Keys of maps.
pub(super) const KEYS: [&str; 9] = ["k", "l", "a.b", "x/y", "with-dash", "日本", "", "a b", "m"];
