//! Trusted certificates, and the verification of others by them (`Certificate.Verify`).

use super::certificate::Certificate;
use super::{names, signature};
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The signatures that are checked for one question, at most (`maxChainSignatureChecks`).
const MOST_CHECKS: usize = 100;

/// The purpose of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    Server,
    Client,
}

impl Usage {
    /// Its identifier among extended key usages.
    fn id(self) -> &'static [u8] {
        match self {
            Usage::Server => &[0x2b, 6, 1, 5, 5, 7, 3, 1],
            Usage::Client => &[0x2b, 6, 1, 5, 5, 7, 3, 2],
        }
    }
}

const ANY_USAGE: &[u8] = &[0x55, 0x1d, 37, 0];

/// Certificates that are trusted: authorities, and others for themselves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool(pub(super) Vec<CertificateDer<'static>>);

impl Pool {
    /// The certificates of a PEM bundle, without those that cannot be read.
    pub(crate) fn from_pem(pem: &[u8]) -> Pool {
        let all = CertificateDer::pem_slice_iter(pem).flatten();
        Pool(all.filter(|der| Certificate::parse(der).is_ok()).collect())
    }

    /// Its certificates and those of another one.
    pub(crate) fn and(&self, other: &Pool) -> Pool {
        Pool([&self.0[..], &other.0].concat())
    }

    /// The certificates, as DER.
    pub(crate) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.0
    }

    /// Verifies the first certificate by way of those after it; if a host is named, also that it is valid for that host.
    ///
    /// # Errors
    /// Go's words.
    pub(crate) fn verify<'c>(
        &self,
        chain: impl IntoIterator<Item = &'c [u8]>,
        host: Option<&str>,
        usage: Usage,
        now: Timestamp,
    ) -> Result<(), String> {
        let sent = chain.into_iter().map(Certificate::parse).collect::<Result<Vec<Certificate<'c>>, String>>()?;
        let (leaf, intermediates) = sent.split_first().ok_or("x509: malformed certificate")?;
        let roots: Vec<Certificate<'_>> = self.0.iter().filter_map(|der| Certificate::parse(der).ok()).collect();
        is_valid(leaf, Place::Leaf, &[], now)?;
        if let Some(host) = host {
            names::check(leaf, host)?;
        }
        let chains = match roots.iter().any(|root| root.raw == leaf.raw) {
            true => vec![vec![leaf]],
            false => Search { roots: &roots, intermediates, now, checks: 0 }.chains(&[leaf])?,
        };
        choose(&chains, usage)
    }
}

/// Finds a chain that may be used for that, and whose names are allowed.
fn choose(chains: &[Vec<&Certificate<'_>>], usage: Usage) -> Result<(), String> {
    let mut name_refused = None;
    let (mut with_policies, mut with_other_usage) = (0, 0);
    for chain in chains {
        if chain.len() > 1 && chain.iter().any(|one| one.extensions.has_policy_constraints) {
            with_policies += 1;
        } else if !chain.iter().rev().all(|one| has_usage(one, usage)) {
            with_other_usage += 1;
        } else if let Err(why) = check_names(chain) {
            name_refused.get_or_insert(why);
        } else {
            return Ok(());
        }
    }
    if let Some(why) = name_refused {
        let what = "x509: a root or intermediate certificate is not authorized to sign for this name";
        return Err(format!("{what}: {why}"));
    }
    match (with_other_usage, with_policies) {
        (_, 0) => Err("x509: certificate specifies an incompatible key usage".into()),
        _ => Err("fake-apiserver does not check policy constraints of certificates".into()),
    }
}

/// Whether a certificate of a chain may be used for that, or for anything.
fn has_usage(certificate: &Certificate<'_>, usage: Usage) -> bool {
    let usages = &certificate.extensions.usages;
    usages.is_empty() || usages.contains(&ANY_USAGE) || usages.contains(&usage.id())
}

/// The place of a certificate in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Leaf,
    Intermediate,
    Root,
}

/// Whether a certificate is good on top of that chain (`isValid`).
fn is_valid(
    certificate: &Certificate<'_>,
    place: Place,
    chain: &[&Certificate<'_>],
    now: Timestamp,
) -> Result<(), String> {
    if certificate.extensions.has_unknown_critical_extension {
        return Err("x509: unhandled critical extension".into());
    }
    let time = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let expired = |relation: &str, limit: Timestamp| {
        let (now, limit) = (time(now), time(limit));
        format!("x509: certificate has expired or is not yet valid: current time {now} is {relation} {limit}")
    };
    if now < certificate.not_before {
        return Err(expired("before", certificate.not_before));
    }
    if now > certificate.not_after {
        return Err(expired("after", certificate.not_after));
    }
    if place == Place::Intermediate && certificate.extensions.is_authority != Some(true) {
        return Err("x509: certificate is not authorized to sign other certificates".into());
    }
    match certificate.extensions.max_path_length {
        Some(most) if chain.len() > most + 1 => Err("x509: too many intermediates for path length constraint".into()),
        _ => Ok(()),
    }
}

/// The search for chains from a certificate to one that is trusted.
struct Search<'s, 'c> {
    roots: &'s [Certificate<'c>],
    intermediates: &'s [Certificate<'c>],
    now: Timestamp,
    /// Signatures that were checked.
    checks: usize,
}

type Chain<'s, 'c> = Vec<&'s Certificate<'c>>;

impl<'s, 'c> Search<'s, 'c> {
    /// All chains that go on from that one (`buildChains`).
    fn chains(&mut self, current: &[&'s Certificate<'c>]) -> Result<Vec<Chain<'s, 'c>>, String> {
        let Some(child) = current.last() else { return Ok(Vec::new()) };
        let (mut chains, mut hint) = (Vec::new(), None);
        // As in Go, that of the candidate that was looked at last.
        let mut error = None;
        let roots = parents(child, self.roots).into_iter().map(|parent| (Place::Root, parent));
        let others = parents(child, self.intermediates).into_iter().map(|parent| (Place::Intermediate, parent));
        for (place, parent) in roots.chain(others) {
            self.checks += 1;
            if self.checks > MOST_CHECKS {
                let limit = "x509: signature check attempts limit reached while verifying certificate chain";
                return if chains.is_empty() { Err(limit.into()) } else { Ok(chains) };
            }
            if current.iter().any(|one| is_same(one, parent)) {
                continue;
            }
            if let Err(why) = signature::check(child, parent) {
                hint.get_or_insert((why, parent));
                continue;
            }
            error = is_valid(parent, place, current, self.now).err();
            if let Some(why) = &error {
                hint.get_or_insert_with(|| (why.clone(), parent));
                continue;
            }
            let longer: Chain<'s, 'c> = current.iter().copied().chain([parent]).collect();
            match place {
                Place::Root => chains.push(longer),
                _ => match self.chains(&longer) {
                    Ok(found) => chains.extend(found),
                    Err(why) => error = Some(why),
                },
            }
        }
        if !chains.is_empty() {
            return Ok(chains);
        }
        Err(error.unwrap_or_else(|| unknown_authority(hint)))
    }
}

/// Checks each certificate of a chain, the first one being the leaf, by the constraints of those above it (`checkChainConstraints`).
///
/// # Errors
/// Go's words about the first name that is not allowed.
fn check_names(chain: &[&Certificate<'_>]) -> Result<(), String> {
    for (index, certificate) in chain.iter().enumerate() {
        if certificate.extensions.alternative_names.is_none() {
            continue;
        }
        for constraints in chain[index + 1..].iter().filter_map(|above| above.extensions.constraints.as_ref()) {
            constraints.check(&certificate.extensions.names)?;
        }
    }
    Ok(())
}

/// Whether both are the same to a chain: subject, key and alternative names (`alreadyInChain`).
fn is_same(one: &Certificate<'_>, other: &Certificate<'_>) -> bool {
    one.raw_subject == other.raw_subject
        && one.key_info == other.key_info
        && one.extensions.alternative_names == other.extensions.alternative_names
}

/// The certificates that may have signed a child, the most likely ones first (`findPotentialParents`).
fn parents<'s, 'c>(child: &Certificate<'c>, among: &'s [Certificate<'c>]) -> Vec<&'s Certificate<'c>> {
    let mut found: Vec<&Certificate<'_>> = among.iter().filter(|one| one.raw_subject == child.raw_issuer).collect();
    let key = child.extensions.authority_key_id;
    found.sort_by_key(|one| match one.extensions.key_id {
        same if same == key => 0,
        id if id.is_empty() != key.is_empty() => 1,
        _ => 2,
    });
    found
}

fn unknown_authority(hint: Option<(String, &Certificate<'_>)>) -> String {
    let unknown = "x509: certificate signed by unknown authority";
    match hint {
        None => unknown.into(),
        Some((why, candidate)) => {
            let name = candidate.displayed_name();
            format!(
                "{unknown} (possibly because of {why:?} while trying to verify candidate authority certificate {name:?})"
            )
        }
    }
}
