//! The history of a server as its clients saw it: their writes, and the events of their watches. Objects are config maps named by a number.

/// The number of namespaces; an object is in that of its number modulo this.
pub const NAMESPACES: u32 = 20;

/// The number of an object.
pub type Object = u32;

/// The whole history.
#[derive(Debug, Default)]
pub struct History {
    /// The writes of each client, in order.
    pub clients: Vec<Vec<Write>>,
    /// The changes, as the store reports them.
    pub changes: Vec<(Change, Shown)>,
    /// The revisions up to which history was forgotten on command.
    pub compactions: Vec<u64>,
    /// The watches, with their events.
    pub watches: Vec<Watch>,
    /// The objects in the end.
    pub end: Vec<Shown>,
}

/// A write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// It was answered: this is the object then.
    Stored {
        /// Whether it was created.
        created: bool,
        /// The revision that it had to replace, if it said one.
        base: Option<u64>,
        /// The object.
        shown: Shown,
    },
    /// The deletion of the object of that uid was answered.
    Deleted {
        /// The object.
        object: Object,
        /// The uid.
        uid: u64,
    },
    /// There was no answer: it was made, or it was not.
    Unknown {
        /// The object.
        object: Object,
    },
}

/// An object as it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The object.
    pub object: Object,
    /// The first half of its uid.
    pub uid: u64,
    /// Its revision.
    pub revision: u64,
}

/// The scope of a watch: a whole namespace, or one object of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// The number of the namespace.
    pub namespace: u32,
    /// The only object, if it is one.
    pub object: Option<Object>,
}

impl Scope {
    /// Whether the object is part of it.
    pub fn contains(&self, object: Object) -> bool {
        object % NAMESPACES == self.namespace && self.object.is_none_or(|only| only == object)
    }
}

/// A watch that is resumed when it ends, and begun with a list when it cannot be.
#[derive(Debug)]
pub struct Watch {
    /// Its scope.
    pub scope: Scope,
    /// Its lists, events, bookmarks and expirations, in order.
    pub seen: Vec<Seen>,
}

/// The ways in which an object changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It came to be.
    Added,
    /// It was replaced.
    Modified,
    /// It is gone; the revision is that of its deletion.
    Deleted,
}

/// An observation of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// It begins: all objects at a revision.
    Listed {
        /// The revision of the list.
        revision: u64,
        /// The objects.
        objects: Vec<Shown>,
    },
    /// An object changed.
    Event {
        /// How.
        change: Change,
        /// The object then.
        shown: Shown,
    },
    /// All changes up to this revision have been sent.
    Bookmark(u64),
    /// The changes after this revision, the last one that the watch has seen, are compacted.
    Expired(u64),
}
