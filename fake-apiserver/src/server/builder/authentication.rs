//! Who is known to the server: users by tokens and certificates, and service accounts by their tokens.

use super::{Builder, StartError};
use crate::auth::keys::{PublicKey, SigningKey};
use crate::auth::token_file;
use crate::auth::{ClientAuthorities, User};

impl Builder {
    /// Adds a user who is known by a bearer token.
    #[must_use]
    pub fn static_token(mut self, token: &str, user: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(ToString::to_string).collect();
        let user = User { name: user.into(), uid: user.into(), groups, ..User::default() };
        self.authentication.static_tokens.insert(token.into(), user);
        self
    }

    /// Adds users from the text of a token file: `token,user,uid,"group1,group2"` a line. `path` is for messages.
    ///
    /// # Errors
    /// The real server's, for a line that cannot be read.
    pub fn token_file(mut self, path: &str, text: &str) -> Result<Self, StartError> {
        self.authentication.static_tokens.extend(token_file::parse(path, text)?);
        Ok(self)
    }

    /// Authorities, as PEM, whose certificates tell clients apart: the common name is the user, organizations are the groups.
    /// Clients need none; a bad one is a 401.
    ///
    /// # Errors
    /// If there is no certificate in the PEM.
    pub fn client_ca_pem(mut self, pem: &str) -> Result<Self, StartError> {
        self.authentication.client_authorities = Some(ClientAuthorities::from_pem(pem)?);
        Ok(self)
    }

    /// Issuers of service account tokens: the first signs, all are accepted.
    #[must_use]
    pub fn service_account_issuers(mut self, issuers: Vec<String>) -> Self {
        self.authentication.issuers = issuers;
        self
    }

    /// Adds keys that verify service account tokens: public or private, as PEM. Without any, the signing key does.
    ///
    /// # Errors
    /// If there is no key in the PEM.
    pub fn service_account_key_pem(mut self, pem: &[u8]) -> Result<Self, StartError> {
        self.authentication.keys.extend(PublicKey::all_from_pem(pem)?);
        Ok(self)
    }

    /// The private key that signs service account tokens (RSA or ECDSA), as PEM. Without it one is made: P-256, for
    /// that takes no time.
    ///
    /// # Errors
    /// If there is no private key in the PEM.
    pub fn service_account_signing_key_pem(mut self, pem: &[u8]) -> Result<Self, StartError> {
        self.authentication.signing_key = SigningKey::from_pem(pem)?;
        Ok(self)
    }

    /// Whether legacy tokens must still exist as secrets; on by default.
    #[must_use]
    pub fn service_account_lookup(mut self, lookup: bool) -> Self {
        self.authentication.lookup = lookup;
        self
    }

    /// The longest life of a requested token, in seconds; 0, the default, is no limit.
    #[must_use]
    pub fn service_account_max_token_expiration(mut self, seconds: i64) -> Self {
        self.authentication.max_token_expiration = seconds;
        self
    }

    /// Whether pods' tokens of 3607 seconds live for a year; on by default.
    #[must_use]
    pub fn service_account_extend_token_expiration(mut self, extend: bool) -> Self {
        self.authentication.extend_token_expiration = extend;
        self
    }

    /// Audiences that tokens for this server name; the issuers by default.
    #[must_use]
    pub fn api_audiences(mut self, audiences: Vec<String>) -> Self {
        self.authentication.api_audiences = audiences;
        self
    }

    /// Whether those without credentials are `system:anonymous` rather than refused; on by default.
    #[must_use]
    pub fn anonymous_auth(mut self, allowed: bool) -> Self {
        self.authentication.anonymous = allowed;
        self
    }
}
