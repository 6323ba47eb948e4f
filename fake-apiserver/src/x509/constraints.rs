//! Constraints on the names for which an authority may sign (`constraints.go`): on names in DNS and on addresses.

use super::alternative_names::AlternativeNames;
use super::der::{self, SEQUENCE, address};
use std::net::IpAddr;

const PERMITTED: u8 = 0xa0;
const EXCLUDED: u8 = 0xa1;
/// Kinds of names.
const EMAIL: u8 = 0x81;
const DNS: u8 = 0x82;
const URI: u8 = 0x86;
const IP: u8 = 0x87;

const INVALID: &str = "x509: invalid NameConstraints extension";

/// The constraints of an authority.
#[derive(Debug, Default)]
pub(super) struct Constraints<'a> {
    permitted: Subtrees<'a>,
    excluded: Subtrees<'a>,
    /// Whether there are constraints of a kind that Go does not know either.
    pub(super) has_unknown: bool,
    /// Whether there are constraints on e-mail addresses or URIs.
    has_emails_or_uris: bool,
}

#[derive(Debug, Default)]
struct Subtrees<'a> {
    dns: Vec<&'a str>,
    networks: Vec<Network>,
}

/// Addresses with a common prefix.
#[derive(Debug, Clone, Copy)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl<'a> Constraints<'a> {
    /// Reads the value of the extension (`parseNameConstraintsExtension`).
    ///
    /// # Errors
    /// Go's words.
    pub(super) fn parse(mut value: &'a [u8]) -> Result<Constraints<'a>, String> {
        let mut found = Constraints::default();
        let mut both = der::element(&mut value, SEQUENCE).filter(|_| value.is_empty()).ok_or(INVALID)?;
        let permitted = der::optional(&mut both, PERMITTED).ok_or(INVALID)?.unwrap_or_default();
        let excluded = der::optional(&mut both, EXCLUDED).ok_or(INVALID)?.unwrap_or_default();
        if !both.is_empty() {
            return Err(INVALID.into());
        }
        if permitted.is_empty() && excluded.is_empty() {
            return Err("x509: empty name constraints extension".into());
        }
        found.permitted = found.subtrees(permitted)?;
        found.excluded = found.subtrees(excluded)?;
        Ok(found)
    }

    fn subtrees(&mut self, mut rest: &'a [u8]) -> Result<Subtrees<'a>, String> {
        let mut found = Subtrees::default();
        while !rest.is_empty() {
            let subtree = der::element(&mut rest, SEQUENCE);
            let (kind, base) = subtree.and_then(|mut subtree| der::any(&mut subtree)).ok_or(INVALID)?;
            match kind {
                DNS => found.dns.push(domain(base, |_| false, "dnsName")?),
                IP => found.networks.push(Network::parse(base)?),
                EMAIL => {
                    domain(base, |text| text.contains('@'), "rfc822Name")?;
                    self.has_emails_or_uris = true;
                }
                URI => {
                    let name = domain(base, |text| text.parse::<IpAddr>().is_ok(), "URI")?;
                    if name.parse::<IpAddr>().is_ok() {
                        return Err(format!("x509: failed to parse URI constraint {name:?}: cannot be IP address"));
                    }
                    self.has_emails_or_uris = true;
                }
                _ => self.has_unknown = true,
            }
        }
        Ok(found)
    }

    /// Checks the names of a certificate: addresses, names in DNS, and whether there are e-mail addresses or URIs.
    ///
    /// # Errors
    /// Go's words about the first name that is not allowed.
    pub(super) fn check(&self, names: &AlternativeNames<'_>) -> Result<(), String> {
        for address in &names.addresses {
            let among = |networks: &[Network]| networks.iter().copied().find(|network| network.has(*address));
            let (permitted, excluded) = (&self.permitted.networks, &self.excluded.networks);
            let named = |network: Network| format!("{}/{}", network.address, network.bits);
            verdict(
                "IP address",
                &address.to_string(),
                permitted.len(),
                among(permitted).is_some(),
                among(excluded).map(named),
            )?;
        }
        for name in &names.dns_names {
            if !is_domain(name) {
                return Err(format!("x509: cannot parse dnsName {name:?}"));
            }
            let (permitted, excluded) = (&self.permitted.dns, &self.excluded.dns);
            let has = |constraint: &&&str| is_below(constraint, name);
            let is_permitted = permitted.iter().any(|constraint| has(&constraint));
            // Of several that contain each other the error names the widest.
            let found = excluded.iter().filter(has).min_by_key(|constraint| constraint.len());
            let found = found.or_else(|| excluded.iter().find(|constraint| is_covered(name, constraint)));
            verdict("DNS name", name, permitted.len(), is_permitted, found.map(|found| found.to_string()))?;
        }
        if self.has_emails_or_uris && names.has_emails_or_uris() {
            return Err("fake-apiserver does not check name constraints about e-mail addresses and URIs".into());
        }
        Ok(())
    }
}

/// `checkConstraints`.
fn verdict(
    kind: &str,
    name: &str,
    permitted: usize,
    is_permitted: bool,
    excluded: Option<String>,
) -> Result<(), String> {
    if permitted > 0 && !is_permitted {
        return Err(format!("{kind} {name:?} is not permitted by any constraint"));
    }
    match excluded {
        Some(constraint) => Err(format!("{kind} {name:?} is excluded by constraint {constraint:?}")),
        None => Ok(()),
    }
}

/// The domain in a constraint of that kind, or a text that is of another form.
fn domain<'a>(base: &'a [u8], is_other: impl Fn(&str) -> bool, kind: &str) -> Result<&'a str, String> {
    let lossy = || String::from_utf8_lossy(base);
    let text = std::str::from_utf8(base).ok().filter(|text| text.is_ascii()).ok_or_else(|| {
        format!("x509: invalid constraint value: x509: {:?} cannot be encoded as an IA5String", lossy())
    })?;
    match is_other(text) || is_domain(text.strip_prefix('.').unwrap_or(text)) {
        true => Ok(text),
        false => Err(format!("x509: failed to parse {kind} constraint {text:?}")),
    }
}

/// Whether a name consists of visible characters and labels that are not empty, if it is not empty itself (`domainNameValid`).
fn is_domain(name: &str) -> bool {
    name.is_empty()
        || (name.bytes().all(|byte| byte.is_ascii_graphic()) && name.split('.').all(|label| !label.is_empty()))
}

/// Whether a name is a domain or below it; with a dot at its beginning only below it (`dnsHasSuffix`).
fn is_below(domain: &str, name: &str) -> bool {
    let Some(start) = name.len().checked_sub(domain.len()) else { return false };
    if domain.is_empty() {
        return true;
    }
    let (front, end) = name.split_at(start);
    end.eq_ignore_ascii_case(domain) && (domain.starts_with('.') || front.is_empty() || front.ends_with('.'))
}

/// Whether a name with a star stands for an excluded domain, too.
fn is_covered(name: &str, domain: &str) -> bool {
    let parent = |name: &str| name.find('.').map(|dot| name[dot..].to_ascii_lowercase());
    name.starts_with('*') && parent(name).is_some() && parent(name) == parent(domain)
}

impl Network {
    fn parse(bytes: &[u8]) -> Result<Network, String> {
        if ![8, 32].contains(&bytes.len()) {
            return Err(format!("x509: IP constraint contained value of length {}", bytes.len()));
        }
        let (base, mask) = bytes.split_at(bytes.len() / 2);
        let bits = mask.iter().map(|byte| byte.leading_ones()).sum();
        let ones: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
        // A mask has no ones after a zero.
        let is_mask = mask.iter().zip(mask.iter().skip(1)).all(|(one, next)| *one == 0xff || *next == 0);
        match address(base).filter(|_| is_mask && ones == bits) {
            Some(address) => Ok(Network { address, bits }),
            None => {
                let mask: String = mask.iter().map(|byte| format!("{byte:02x}")).collect();
                Err(format!("x509: IP constraint contained invalid mask {mask}"))
            }
        }
    }

    fn has(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (base.to_bits() ^ address.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                (base.to_bits() ^ address.to_bits()).leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}
