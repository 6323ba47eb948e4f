//! Constraints on the names for which an authority may sign (`constraints.go`): on names in DNS and on addresses.

use super::der::{self, SEQUENCE, address};
use std::net::IpAddr;

const PERMITTED: u8 = 0xa0;
const EXCLUDED: u8 = 0xa1;
/// Kinds of names.
const EMAIL: u8 = 0x81;
const DNS: u8 = 0x82;
const URI: u8 = 0x86;
const IP: u8 = 0x87;

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
    /// Reads the extension; none if it is malformed.
    pub(super) fn parse(mut value: &'a [u8]) -> Option<Constraints<'a>> {
        let mut found = Constraints::default();
        for (tag, subtrees) in der::elements(der::element(&mut value, SEQUENCE)?) {
            for (_, mut subtree) in der::elements(subtrees) {
                let (kind, base) = der::any(&mut subtree)?;
                let side = match tag {
                    PERMITTED => &mut found.permitted,
                    EXCLUDED => &mut found.excluded,
                    _ => return None,
                };
                match kind {
                    DNS => {
                        let domain = std::str::from_utf8(base).ok()?;
                        side.dns.push(Some(domain).filter(|one| is_domain(one.strip_prefix('.').unwrap_or(one)))?);
                    }
                    IP => side.networks.push(Network::parse(base)?),
                    EMAIL | URI => found.has_emails_or_uris = true,
                    _ => found.has_unknown = true,
                }
            }
        }
        Some(found)
    }

    /// Checks the names of a certificate: addresses, names in DNS, and whether there are e-mail addresses or URIs.
    ///
    /// # Errors
    /// Go's words about the first name that is not allowed.
    pub(super) fn check(
        &self,
        addresses: &[IpAddr],
        dns_names: &[&str],
        has_emails_or_uris: bool,
    ) -> Result<(), String> {
        for address in addresses {
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
        for name in dns_names {
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
        if self.has_emails_or_uris && has_emails_or_uris {
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
    fn parse(bytes: &[u8]) -> Option<Network> {
        let (base, mask) = bytes.split_at(bytes.len() / 2);
        let bits = mask.iter().map(|byte| byte.leading_ones()).sum();
        let ones: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
        // A mask has no ones after a zero.
        let is_mask = mask.iter().zip(mask.iter().skip(1)).all(|(one, next)| *one == 0xff || *next == 0);
        (base.len() == mask.len() && is_mask && ones == bits).then_some(Network { address: address(base)?, bits })
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
