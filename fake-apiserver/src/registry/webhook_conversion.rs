//! Conversion of custom resources by a webhook, and what came of it for readers.

use crate::custom::review::{Review, ReviewVersion};
use crate::ids::uuid;
use crate::schema::encode_any;
use crate::store::{Entry, Key};
use crate::webhook::Client;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;
use tree::Value;

/// How much of what readers were shown of a version is kept, by the length of the stored objects in bytes.
const ROOM: usize = 16 * 1024 * 1024;
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
    pub(crate) fn of(conversion: &Value) -> Result<Option<Converter>, String> {
        if conversion["strategy"] != "Webhook" {
            return Ok(None);
        }
        let webhook = &conversion["webhook"];
        let versions = webhook["conversionReviewVersions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let version = ReviewVersion::first(versions).ok_or("no supported conversion review versions")?;
        Ok(Some(Converter { client: Client::new(&webhook["clientConfig"])?, version }))
    }

    /// Objects of any versions, converted to that one. Those that have it already stay as they are.
    ///
    /// # Errors
    /// If the webhook cannot be asked, or says something else than what was asked for.
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
            let answer = self.client.post(review.question().into()).await.map_err(|why| review.failed(&why))?;
            for (index, converted) in batch.into_iter().zip(review.answer(&answer)?) {
                objects[index] = converted;
            }
        }
        Ok(objects)
    }
}

/// An object in a version, once it was converted. Readers that need it meanwhile wait for the first one.
pub(crate) type Form = Arc<OnceCell<Arc<Entry>>>;

/// Stored objects as readers of one version see them, so that each is converted once for all of them.
#[derive(Debug, Default)]
pub(crate) struct Forms(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    forms: HashMap<(Key, u64), Form>,
    /// The oldest first, with their lengths.
    order: VecDeque<((Key, u64), usize)>,
    bytes: usize,
}

impl Forms {
    /// The form of an object at its revision.
    pub(crate) fn of(&self, entry: &Entry) -> Form {
        let mut recent = self.0.lock().expect("no code that runs under this lock panics");
        let key = (entry.key.clone(), entry.revision);
        if let Some(form) = recent.forms.get(&key) {
            return form.clone();
        }
        let (form, length) = (Form::default(), entry.json().len());
        recent.forms.insert(key.clone(), form.clone());
        recent.order.push_back((key, length));
        recent.bytes += length;
        while recent.bytes > ROOM
            && let Some((oldest, length)) = recent.order.pop_front()
        {
            recent.forms.remove(&oldest);
            recent.bytes -= length;
        }
        form
    }
}
