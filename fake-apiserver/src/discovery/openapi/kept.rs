//! Documents that are made once, however many clients ask for them at once, and kept.

use super::protobuf;
use super::template::Form;
use crate::deadline::Deadline;
use crate::discovery::aggregated::sha512_hex;
use crate::error::{ApiError, ApiResult};
use crate::registry::Registry;
use crate::store::ResourceId;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;

/// The documents of a cluster by path, as they were last made. Most changes of its resources leave most of them as they are.
#[derive(Default)]
pub(crate) struct Shelf {
    own: Mutex<BTreeMap<String, (Described, Arc<Kept>)>>,
    /// The documents that all clusters share: those about built-in resources only.
    shared: Option<Arc<Shelf>>,
}

/// The versions of resources that a document describes.
pub(super) type Described = Vec<(ResourceId, u32)>;

/// A document, or the place of one. The first request makes it; others wait without a thread.
#[derive(Default)]
pub(super) struct Kept {
    json: OnceCell<Bytes>,
    hash: OnceCell<Arc<str>>,
    protobuf: OnceCell<Result<Bytes, String>>,
}

/// A document that is named by its hash.
pub(crate) struct Hashed<'d> {
    /// The hash in the URL's query and, in double quotes, in the entity tag.
    pub(crate) hash: Arc<str>,
    pub(super) kept: Arc<Kept>,
    pub(super) form: Form,
    pub(super) make: Make<'d>,
    pub(super) deadline: &'d Deadline,
}

/// The way in which a document is made, as JSON.
pub(super) type Make<'d> = Box<dyn Fn() -> ApiResult<Bytes> + Send + Sync + 'd>;

impl Shelf {
    /// The documents of a cluster, which starts with those that all clusters share.
    pub(crate) fn sharing(shared: &Arc<Shelf>) -> Self {
        Shelf { shared: Some(shared.clone()), ..Shelf::default() }
    }

    /// The document at a path about those versions of resources; `is_shared` says that it is the same in all clusters.
    pub(super) fn place(&self, path: &str, described: Described, is_shared: bool) -> Arc<Kept> {
        if let Some(shared) = self.shared.as_ref().filter(|_| is_shared) {
            return shared.place(path, described, is_shared);
        }
        let mut own = self.own();
        match own.get(path) {
            Some((of, kept)) if *of == described => kept.clone(),
            _ => {
                let kept = Arc::<Kept>::default();
                own.insert(path.to_owned(), (described, kept.clone()));
                kept
            }
        }
    }

    /// Drops the documents about versions that are not in the registry any more.
    pub(crate) fn forget_all_but(&self, registry: &Registry) {
        let is_served = |(id, number): &(ResourceId, u32)| {
            let resource = registry.get(*id);
            resource.is_some_and(|resource| resource.versions.iter().any(|version| version.number == *number))
        };
        self.own().retain(|_, (described, _)| described.iter().all(is_served));
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<String, (Described, Arc<Kept>)>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// The hash of the JSON. That is made for it, if it is not there, and not kept.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(super) async fn hash(&self, make: impl FnOnce() -> ApiResult<Bytes> + Send) -> ApiResult<Arc<str>> {
        let hashed = || async {
            let json = self.json.get().cloned().map_or_else(make, Ok)?;
            Ok(sha512_hex(&json).into())
        };
        self.hash.get_or_try_init(hashed).await.cloned()
    }
}

impl<'d> Hashed<'d> {
    /// A document of that form in its place.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(super) async fn of(
        kept: Arc<Kept>,
        form: Form,
        make: Make<'d>,
        deadline: &'d Deadline,
    ) -> ApiResult<Hashed<'d>> {
        if !kept.hash.initialized() {
            kept.json.get_or_try_init(|| async { make() }).await?;
        }
        let hash = kept.hash(&make).await?;
        Ok(Hashed { hash, kept, form, make, deadline })
    }

    /// The document in JSON.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(crate) async fn json(&self) -> ApiResult<Bytes> {
        self.kept.json.get_or_try_init(|| async { (self.make)() }).await.cloned()
    }

    /// The document in protobuf, or the reason that there is none: the schema of a custom resource has a member that the messages have no
    /// field for.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(crate) async fn protobuf(&self) -> ApiResult<Result<Bytes, String>> {
        let json = self.json().await?;
        let encoded = || async {
            let protobuf = match self.form {
                Form::V2 => protobuf::v2(&json, self.deadline),
                Form::V3 => protobuf::v3(&json, self.deadline),
            };
            self.deadline.check()?;
            Ok::<_, ApiError>(protobuf.map(Bytes::from))
        };
        self.kept.protobuf.get_or_try_init(encoded).await.cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;
    use futures::FutureExt;
    use futures::future::join_all;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const DOCUMENT: &[u8] = br#"{"openapi":"3.0.0"}"#;

    #[test]
    fn a_document_is_made_once_for_all_who_ask() {
        let (shelf, made, deadline) = (Shelf::default(), AtomicUsize::new(0), Deadline::default());
        let ask = || async {
            let make: Make<'_> = Box::new(|| {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(Bytes::from_static(DOCUMENT))
            });
            let kept = shelf.place("apis/a/v1", Vec::new(), false);
            let document = Hashed::of(kept, Form::V3, make, &deadline).await.unwrap();
            assert_eq!(document.json().await.unwrap(), DOCUMENT);
            document.protobuf().await.unwrap().unwrap()
        };
        let documents = join_all((0..8).map(|_| ask())).now_or_never().expect("nothing else is awaited");
        assert!(documents.iter().all(|document| document.as_ptr() == documents[0].as_ptr()));
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn what_one_cannot_make_in_time_another_does() {
        let (kept, late) = (Kept::default(), Deadline::passed());
        assert!(kept.hash(|| late.check().map(|()| Bytes::new())).now_or_never().unwrap().is_err());
        assert!(kept.hash(|| Ok(Bytes::new())).now_or_never().unwrap().is_ok());
    }

    #[test]
    fn documents_are_kept_while_they_are_current() {
        let registry = samples::registry();
        let served = registry.versions().next().unwrap();
        let current = vec![(served.resource.id, served.version.number)];
        let other = vec![(served.resource.id, served.version.number + 1)];
        let shelf = Shelf::default();
        let first = shelf.place("apis/a/v1", current.clone(), false);
        let second = shelf.place("apis/b/v1", other.clone(), false);
        shelf.forget_all_but(&registry);
        assert!(Arc::ptr_eq(&first, &shelf.place("apis/a/v1", current, false)));
        assert!(!Arc::ptr_eq(&first, &shelf.place("apis/a/v1", other.clone(), false)), "it has changed");
        assert!(!Arc::ptr_eq(&second, &shelf.place("apis/b/v1", other, false)), "it was dropped");
    }
}
