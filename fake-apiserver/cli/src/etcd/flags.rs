//! etcd's flags, in the forms of Go's `flag`: one dash or two.

use anyhow::bail;

/// The parsed flags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) addresses: Vec<String>,
    pub(super) data_dir: Option<String>,
    pub(super) help: bool,
    pub(super) version: bool,
}

impl Flags {
    /// Reads flags in Go's form: one dash or two, values behind `=` or as the next word. Those without a meaning here are passed over.
    pub(super) fn parse(words: &[&str]) -> anyhow::Result<Flags> {
        let mut flags = Flags { addresses: vec!["localhost:2379".into()], data_dir: None, help: false, version: false };
        let mut words = words.iter().copied().peekable();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
                bail!("'{word}' is not a valid flag")
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, words.next_if(|next| !next.starts_with('-'))),
            };
            match (name, value) {
                ("help" | "h", _) => flags.help = true,
                ("version", _) => flags.version = true,
                ("data-dir", value) => flags.data_dir = value.map(str::to_owned),
                ("listen-client-urls", value) => {
                    let urls = value.unwrap_or_default().split(',');
                    flags.addresses = urls.map(address).collect::<anyhow::Result<_>>()?;
                }
                _ => {}
            }
        }
        Ok(flags)
    }
}

/// The host and port of a URL.
fn address(url: &str) -> anyhow::Result<String> {
    let address = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/')).unwrap_or_default();
    match address.rsplit_once(':') {
        Some(_) => Ok(address.to_owned()),
        None => bail!("--listen-client-urls {url:?}: what stands in for etcd listens to http://HOST:PORT only"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_every_form() {
        let flags = |addresses: &[&str], data_dir: Option<&str>| Flags {
            addresses: addresses.iter().map(|address| address.to_string()).collect(),
            data_dir: data_dir.map(str::to_owned),
            help: false,
            version: false,
        };
        for (words, expected) in [
            ("", flags(&["localhost:2379"], None)),
            (
                "--advertise-client-urls=http://127.0.0.1:1 --data-dir=/d --listen-client-urls=http://127.0.0.1:1 \
                 --listen-peer-urls=http://127.0.0.1:2 --unsafe-no-fsync=true",
                flags(&["127.0.0.1:1"], Some("/d")),
            ),
            (
                "-data-dir D -wal-dir W --listen-client-urls http://0.0.0.0:1,http://[::1]:2/ --unsafe-no-fsync",
                flags(&["0.0.0.0:1", "[::1]:2"], Some("D")),
            ),
        ] {
            let words: Vec<&str> = words.split_whitespace().collect();
            assert_eq!(Flags::parse(&words).unwrap(), expected);
        }
        assert!(Flags::parse(&["--unsafe-no-fsync", "--help"]).unwrap().help);
        assert!(Flags::parse(&["start"]).is_err());
        assert!(Flags::parse(&["--listen-client-urls=https://127.0.0.1:1"]).is_err());
    }
}
