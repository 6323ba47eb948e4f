//! Conversion of custom resources by a webhook.

use crate::custom::review::{Review, ReviewVersion};
use crate::ids::uuid;
use crate::schema::encode_any;
use crate::webhook::{Client, Credentials, Document, Network, TIMEOUT};
use std::collections::VecDeque;
use std::sync::Arc;
use tree::Value;

/// How long the objects of one review are together, unless it is a single one, in bytes.
const BATCH: usize = 4 * 1024 * 1024;

/// The webhook of a definition.
#[derive(Debug)]
pub(crate) struct Converter {
    client: Client,
    version: ReviewVersion,
}

impl Converter {
    /// The webhook that a valid definition names in `spec.conversion`; `None` if it names none.
    ///
    /// # Errors
    /// If it cannot be called.
    pub(crate) fn of(conversion: &Value, network: &Arc<Network>) -> Result<Option<Converter>, String> {
        if conversion["strategy"] != "Webhook" {
            return Ok(None);
        }
        let webhook = &conversion["webhook"];
        let versions = webhook["conversionReviewVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let version = ReviewVersion::first(versions).ok_or("no supported conversion review versions")?;
        let client = Client::new(&webhook["clientConfig"], network, &Credentials::default())?;
        Ok(Some(Converter { client, version }))
    }

    /// Converts objects to the version `wanted`; those already in that version are left alone.
    ///
    /// # Errors
    /// If the webhook cannot be called, or its response does not answer the request.
    pub(super) async fn convert(&self, mut objects: Vec<Value>, wanted: &str) -> Result<Vec<Value>, String> {
        let mut others =
            (0..objects.len()).filter(|index| objects[*index]["apiVersion"] != wanted).collect::<VecDeque<_>>();
        while !others.is_empty() {
            let (mut batch, mut asked, mut texts, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
            while let Some(index) = others.front()
                && bytes < BATCH
            {
                let text = encode_any(&objects[*index]);
                bytes += text.len();
                texts.push(text);
                asked.push(objects[*index].take());
                batch.extend(others.pop_front());
            }
            let uid = uuid(fastrand::u128(..));
            let review = Review { version: self.version, uid, wanted, objects: &asked, texts: &texts };
            let answer = self
                .client
                .post(Document::from_iter([review.question().into()]), TIMEOUT)
                .await
                .map_err(|refusal| review.failed(&refusal.message))?;
            for (index, converted) in batch.into_iter().zip(review.answer(&answer)?) {
                objects[index] = converted;
            }
        }
        Ok(objects)
    }
}
