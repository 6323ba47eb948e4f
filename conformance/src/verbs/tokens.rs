//! Looking into tokens. They are made, used and reviewed with ordinary requests.
//!
//! ```text
//! create serviceaccounts/builder/token spec.expirationSeconds=3600
//! ----
//! 201 status.token=$t
//!
//! claims of $t
//! ----
//! claims iat=$now nbf=$now exp=$exp
//!
//! as token $t: get configmaps/a
//!
//! create tokenreviews spec.token=$t
//! ```

use crate::observation::{Item, Observation};
use crate::scenario::command::Written;
use crate::stage::Stage;
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// `claims of TOKEN`: the payload of a token, its signature unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    token: String,
}

impl Claims {
    /// Reads the command.
    pub fn parse(written: &Written<'_>) -> Result<Claims, String> {
        match written.words()[..] {
            ["of", token] => Ok(Claims { token: token.to_owned() }),
            _ => Err(written.usage("claims of $token")),
        }
    }

    /// Carries it out.
    pub fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        let token = stage.fill(&self.token)?;
        let payload = token.split('.').nth(1).context("this is not a token")?;
        let claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload)?)?;
        Ok(vec![Item::new("claims", claims)].into())
    }
}
