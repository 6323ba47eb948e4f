//! The cache of tokens, and the decisions when to renew and to drop them. It makes no requests.

use super::spec::TokenSpec;
use super::token::Token;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;

/// The age from which a token is renewed, whatever its lifetime (`maxTTL`).
const MAX_AGE: SignedDuration = SignedDuration::from_hours(24);
/// The last part of a token's lifetime, in percent, in which it is renewed.
const LAST_PERCENT: i64 = 20;

/// Whether it is time to renew `token`: when less than a fifth of its lifetime is left, or when it is older than 24 hours;
/// `jitter` earlier. A token of unknown lifetime is never renewed.
///
/// This depends on the API server's answer and the node's clock, not on the token's claims.
pub fn requires_refresh(token: &Token, now: Timestamp, jitter: SignedDuration) -> bool {
    let Some(seconds) = token.lifetime_seconds else { return false };
    let too_old = age(token, seconds, now) > MAX_AGE.saturating_sub(jitter);
    let last_part = SignedDuration::from_secs(seconds.saturating_mul(LAST_PERCENT) / 100);
    too_old || token.expires.duration_since(now) < last_part.saturating_add(jitter)
}

/// The age of a token, computed from its expiry.
fn age(token: &Token, lifetime_seconds: i64, now: Timestamp) -> SignedDuration {
    now.duration_since(token.expires).saturating_add(SignedDuration::from_secs(lifetime_seconds))
}

/// Whether `token` has expired.
pub fn is_expired(token: &Token, now: Timestamp) -> bool {
    now > token.expires
}

/// The last token for each spec.
#[derive(Debug, Default)]
pub(super) struct TokenCache(HashMap<TokenSpec, Token>);

impl TokenCache {
    pub(super) fn get(&self, spec: &TokenSpec) -> Option<Token> {
        self.0.get(spec).cloned()
    }

    pub(super) fn set(&mut self, spec: TokenSpec, token: Token) {
        self.0.insert(spec, token);
    }

    /// Drops the tokens that were requested for the pod with that uid. The request decides, not the answer, as an API server
    /// need not repeat the bound object.
    pub(super) fn delete_bound_to(&mut self, uid: &str) {
        self.0.retain(|spec, _| spec.bound_object.as_ref().is_none_or(|object| object.uid != uid));
    }

    /// Drops expired tokens.
    pub(super) fn sweep(&mut self, now: Timestamp) {
        self.0.retain(|_, token| !is_expired(token, now));
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::BoundObject;
    use super::*;
    use crate::clock::plus;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn after(minutes: i64) -> Timestamp {
        plus(START, SignedDuration::from_mins(minutes))
    }

    fn token(lifetime_seconds: Option<i64>, expires: Timestamp) -> Token {
        Token { token: "foo".into(), lifetime_seconds, expires }
    }

    fn of_pod(name: &str, uid: &str) -> TokenSpec {
        TokenSpec {
            namespace: "foo-ns".into(),
            service_account: "foo-sa".into(),
            service_account_uid: None,
            audiences: Some(vec!["foo1".into(), "foo2".into()]),
            expiration_seconds: Some(2000),
            bound_object: Some(BoundObject {
                api_version: String::new(),
                kind: "pod".into(),
                name: name.into(),
                uid: uid.into(),
            }),
        }
    }

    // TestRequiresRefresh; the results must not depend on the jitter.
    #[test]
    fn the_last_fifth_and_the_first_day_decide() {
        for (now, expires, knows_life, expected) in [
            (10, 60, true, false),
            (50, 60, true, true),
            (25 * 60, 60 * 60, true, true),
            (70, 60, true, true),
            (0, 60, false, false),
        ] {
            let token = token(knows_life.then_some(expires * 60), after(expires));
            for jitter in [0, 9] {
                let jitter = SignedDuration::from_secs(jitter);
                assert_eq!(requires_refresh(&token, after(now), jitter), expected, "{now} of {expires} minutes");
            }
        }
    }

    #[test]
    fn boundaries_are_whole_seconds_and_the_jitter_comes_before_them() {
        for (life, jitter, last_second_without) in [
            (3600, 0, 2880),
            (3600, 9, 2871),
            (3607, 0, 2886),
            (600, 0, 480),
            (144_000, 0, 86_400),
            (144_000, 4, 86_396),
        ] {
            let end = START + SignedDuration::from_secs(life);
            let at = |second| START + SignedDuration::from_secs(second);
            let jitter = SignedDuration::from_secs(jitter);
            let due = |second| requires_refresh(&token(Some(life), end), at(second), jitter);
            assert_eq!((due(last_second_without), due(last_second_without + 1)), (false, true), "{life} s, {jitter:?}");
        }
    }

    #[test]
    fn lives_beyond_reckoning_do_not_overflow() {
        for life in [i64::MIN, i64::MAX] {
            for end in [Timestamp::MIN, Timestamp::MAX] {
                requires_refresh(&token(Some(life), end), Timestamp::MAX, SignedDuration::from_secs(9));
            }
        }
    }

    // TestDeleteServiceAccountToken, as far as it is about the cache.
    #[test]
    fn a_pods_tokens_go_with_it_and_no_others() {
        for (deleted, left) in [
            (&[][..], &["1", "2", "3"][..]),
            (&["1"], &["2", "3"]),
            (&["1", "3"], &["2"]),
            (&["1", "2", "3"], &[]),
            (&["100", "200"], &["1", "2", "3"]),
        ] {
            let mut cache = TokenCache::default();
            for uid in ["1", "2", "3"] {
                cache.set(of_pod("pod", uid), token(None, after(600)));
            }
            cache.set(TokenSpec::default(), token(None, after(600)));
            deleted.iter().for_each(|uid| cache.delete_bound_to(uid));
            for uid in ["1", "2", "3"] {
                assert_eq!(cache.get(&of_pod("pod", uid)).is_some(), left.contains(&uid), "{deleted:?}, {uid}");
            }
            assert_eq!(cache.len(), left.len() + 1, "what is bound to nothing stays");
        }
    }

    // TestCleanup.
    #[test]
    fn what_has_expired_is_swept() {
        for (expires, left) in [(-60, 0), (0, 1), (60, 1)] {
            let mut cache = TokenCache::default();
            cache.set(TokenSpec::default(), token(None, after(expires)));
            cache.sweep(START);
            assert_eq!(cache.len(), left, "{expires} minutes from now");
        }
    }

    // TestKeyFunc.
    #[test]
    fn requests_that_differ_in_anything_are_kept_apart() {
        let known = of_pod("foo-pod", "foo-uid");
        let with_uid = |uid: &str| TokenSpec { service_account_uid: Some(uid.into()), ..known.clone() };
        for (kept, asked, hit) in [
            (known.clone(), known.clone(), true),
            (known.clone(), TokenSpec { expiration_seconds: Some(2001), ..known.clone() }, false),
            (known.clone(), of_pod("diff-pod", "foo-uid"), false),
            (with_uid("old"), with_uid("new"), false),
            (with_uid("same"), with_uid("same"), true),
            (with_uid("one"), known.clone(), false),
            (
                TokenSpec { audiences: None, ..known.clone() },
                TokenSpec { audiences: Some(vec![]), ..known.clone() },
                false,
            ),
        ] {
            let mut cache = TokenCache::default();
            cache.set(kept.clone(), token(None, after(60)));
            assert_eq!(cache.get(&asked).is_some(), hit, "{kept} {asked}");
            assert_eq!(kept.to_string() == asked.to_string(), hit, "{kept} {asked}");
        }
    }

    #[test]
    fn keys_read_as_the_kubelet_prints_them() {
        assert_eq!(
            of_pod("foo-pod", "foo-uid").to_string(),
            r#""foo-sa"/"foo-ns"/[]string{"foo1", "foo2"}/2000/v1.BoundObjectReference{Kind:"pod", APIVersion:"", Name:"foo-pod", UID:"foo-uid"}/"""#
        );
        assert_eq!(
            TokenSpec::default().to_string(),
            r#"""/""/[]string(nil)/0/v1.BoundObjectReference{Kind:"", APIVersion:"", Name:"", UID:""}/"""#
        );
    }
}
