//! The rules, as data: the absences that `ARCHITECTURE.md` prints, sentence by sentence, and how each is checked.

/// An absence.
pub(crate) struct Absence {
    /// The sentence in `ARCHITECTURE.md`.
    pub(crate) sentence: &'static str,
    /// The rules that check it.
    pub(crate) rules: &'static [Rule],
}

/// A rule about the crate in the folder `of`. A room is a module with all below it, named by its path. Imports through other
/// modules count as well; code that is compiled for tests only does not.
pub(crate) enum Rule {
    /// The rooms import nothing of their crate but themselves and `may`.
    Only { of: &'static str, rooms: &'static [&'static str], may: &'static [&'static str] },
    /// The rooms do not import `never`.
    Never { of: &'static str, rooms: &'static [&'static str], never: &'static [&'static str] },
    /// The rooms at the top of the crate import each other in no circle.
    NoCircles { of: &'static str },
    /// The files import each other in no circle. An import is a name or a path that leads to an item of another file, through
    /// whatever re-exports. Parent and child are files like others: neither `mod` nor `pub use` of what the file does not
    /// use itself is an import, and neither is a module's name, which only leads on.
    NoCirclesOfFiles { of: &'static str },
    /// The rooms do not use the identifiers `words`.
    Without { of: &'static str, rooms: &'static [&'static str], words: &'static [&'static str] },
    /// The identifiers `words` are used in the rooms `homes` only.
    Words { of: &'static str, words: &'static [&'static str], homes: &'static [&'static str] },
    /// String literals with `text` in them stand in the rooms `homes` only.
    Text { of: &'static str, text: &'static str, homes: &'static [&'static str] },
    /// Built-in kinds are named in the rooms `homes` only: by the constants of their ids, or by a string literal that is a kind or plural.
    Kinds { of: &'static str, homes: &'static [&'static str] },
    /// The type of no static has an identifier that begins with one of `never`, except in the rooms `homes`.
    Statics { of: &'static str, never: &'static [&'static str], homes: &'static [&'static str] },
    /// The crate does not depend on the packages `never`, except for its tests.
    Dependencies { of: &'static str, never: &'static [&'static str] },
}

use Rule::{Dependencies, Kinds, Never, NoCircles, NoCirclesOfFiles, Only, Statics, Text, Without, Words};

const FAKE: &str = "fake-apiserver";
const MACHINERY: &str = "fake-apiserver/machinery";

/// The paths that read the time of day.
const CLOCKS: &[&str] = &["Timestamp::now", "SystemTime::now", "Zoned::now"];

pub(crate) const ABSENCES: &[Absence] = &[
    Absence {
        sentence: "`store/` knows no HTTP and no Kubernetes kind, has nothing to await, and imports nothing but `sync.rs`.",
        rules: &[
            Only { of: FAKE, rooms: &["store"], may: &["sync"] },
            Without { of: FAKE, rooms: &["store"], words: &["async", "await", "http", "hyper"] },
        ],
    },
    Absence {
        sentence: "`schema/` imports nothing but itself.",
        rules: &[Only { of: MACHINERY, rooms: &["schema"], may: &[] }],
    },
    Absence {
        sentence: "`custom/schema/` imports nothing but `error/`, `object/`, `schema/` and `deadline.rs`.",
        rules: &[Only { of: MACHINERY, rooms: &["custom::schema"], may: &["error", "object", "schema", "deadline"] }],
    },
    Absence {
        sentence: "`managed/` imports nothing but `custom/schema/` and what that imports.",
        rules: &[Only {
            of: MACHINERY,
            rooms: &["managed"],
            may: &["custom::schema", "error", "object", "schema", "deadline"],
        }],
    },
    Absence {
        sentence: "`custom/rules/` imports nothing but those four and the rest of `custom/`.",
        rules: &[Only {
            of: MACHINERY,
            rooms: &["custom::rules"],
            may: &["custom::field_path", "custom::schema", "deadline", "error", "object", "schema"],
        }],
    },
    Absence {
        sentence: "`auth/`, `admission/`, `registry/` and the audit log import neither `http/` nor `api/`.",
        rules: &[Never { of: FAKE, rooms: &["admission", "audit", "auth", "registry"], never: &["http", "api"] }],
    },
    Absence {
        sentence: "`webhook/` imports nothing of the server but `x509/` and `files.rs`, which import nothing.",
        rules: &[
            Only { of: FAKE, rooms: &["webhook"], may: &["files", "x509"] },
            Only { of: FAKE, rooms: &["files", "x509"], may: &[] },
        ],
    },
    Absence {
        sentence: "`index/` imports nothing but `store/` and `sync.rs`; `commit/` and `allocation/` know neither verbs, admission nor the wire.",
        rules: &[
            Only { of: FAKE, rooms: &["index"], may: &["store", "sync"] },
            Never { of: FAKE, rooms: &["allocation", "commit"], never: &["admission", "api", "http"] },
        ],
    },
    Absence {
        sentence: "Only `commit/` makes drafts for the store, and `internals` for tests.",
        rules: &[Words { of: FAKE, words: &["Draft"], homes: &["store", "commit", "internals"] }],
    },
    Absence {
        sentence: "Only `http/` knows status codes by name, only `auth/` and `http/` the headers of clients' requests.",
        rules: &[
            Words { of: FAKE, words: &["StatusCode"], homes: &["http"] },
            Words { of: FAKE, words: &["HeaderMap", "HeaderName"], homes: &["auth", "http"] },
        ],
    },
    Absence {
        sentence: "`api/` and the cluster know no HTTP: they do not import `http/`.",
        rules: &[Never { of: FAKE, rooms: &["api", "cluster"], never: &["http"] }],
    },
    Absence {
        sentence: "A cluster knows no verb.",
        rules: &[Never { of: FAKE, rooms: &["cluster"], never: &["api"] }],
    },
    Absence {
        sentence: "Built-in kinds are named by their rules (`registry/`) and by what serves, admits, authorizes, covers, allocates or reconciles one in particular; a room that serves all kinds knows none.",
        rules: &[Kinds {
            of: FAKE,
            homes: &[
                "admission::matching::exempt",
                "admission::plugins",
                "aggregation",
                "allocation",
                "api::special",
                "audit",
                "auth",
                "commit::namespace",
                "coverage",
                // `/namespaces/NAME` is in the path of every namespaced resource.
                "discovery::openapi::recorded",
                // Requests are classified by them.
                "flow",
                "http::route",
                // Events are followed only by those who say so.
                "living::known",
                "reconcile",
                "registry",
                "service_addresses",
            ],
        }],
    },
    Absence {
        sentence: "`http/` takes snapshots of the store, for metrics, flow control and faults, and writes nothing to it.",
        rules: &[Without { of: FAKE, rooms: &["http"], words: &["Store"] }],
    },
    Absence {
        sentence: "Nothing imports `server/` but the roof, by which programs enter.",
        rules: &[Never {
            of: FAKE,
            rooms: &[
                "admission",
                "aggregation",
                "allocation",
                "api",
                "audit",
                "auth",
                "cluster",
                "commit",
                "controllers",
                "coverage",
                "discovery",
                "flow",
                "http",
                "index",
                "living",
                "reconcile",
                "recorder",
                "registry",
                "store",
                "webhook",
                "x509",
            ],
            never: &["server"],
        }],
    },
    Absence {
        sentence: "Only `clock.rs` reads the time of day.",
        rules: &[
            Words { of: FAKE, words: CLOCKS, homes: &["clock"] },
            Words { of: MACHINERY, words: CLOCKS, homes: &[] },
            Words { of: "controller", words: CLOCKS, homes: &["clock"] },
            Words { of: "controller/kubelet", words: CLOCKS, homes: &["clock"] },
        ],
    },
    Absence {
        sentence: "In the server only `version.rs` says which Kubernetes this is.",
        rules: &[Text { of: FAKE, text: "1.37", homes: &["version"] }],
    },
    Absence {
        sentence: "There is no Rust struct for a Kubernetes kind in the server: an object is a tree, its type is data.",
        rules: &[Dependencies { of: FAKE, never: &["k8s-openapi"] }],
    },
    Absence {
        sentence: "`controller/` and `controller/kubelet/` depend on the fake only in their tests.",
        rules: &[
            Dependencies { of: "controller", never: &["fake-apiserver"] },
            Dependencies { of: "controller/kubelet", never: &["fake-apiserver"] },
        ],
    },
    Absence {
        sentence: "`client_go/` knows no controller, and a volume's mounter no token.",
        rules: &[
            Only { of: "controller", rooms: &["client_go"], may: &["clock"] },
            Without { of: "controller/kubelet", rooms: &["volumes::mounter"], words: &["tokens", "sources", "kube"] },
        ],
    },
    Absence {
        sentence: "Only `client_go/` puts names into URLs (`Objects`).",
        rules: &[
            Words { of: "controller", words: &["Api::namespaced"], homes: &["client_go"] },
            Words { of: "controller/kubelet", words: &["Api::namespaced"], homes: &[] },
        ],
    },
    Absence {
        sentence: "The crate `fake-apiserver/machinery` knows no server, no wire and no kind, and has nothing to await.",
        rules: &[
            Dependencies {
                of: MACHINERY,
                never: &["fake-apiserver", "kube", "k8s-openapi", "http", "hyper", "tokio", "futures"],
            },
            // No object may belong to an event; every kind has the metadata of one of them.
            Kinds { of: MACHINERY, homes: &["object::validate", "schema::built_in"] },
        ],
    },
    Absence {
        sentence: "The crate `fake-apiserver/cel` knows neither the server nor the wire.",
        rules: &[Dependencies {
            of: "fake-apiserver/cel",
            never: &["fake-apiserver", "kube", "k8s-openapi", "http", "hyper", "tokio"],
        }],
    },
    Absence {
        sentence: "The crate `fake-apiserver/control` knows neither the server nor the wire, and awaits nothing.",
        rules: &[Dependencies {
            of: "fake-apiserver/control",
            never: &["fake-apiserver", "kube", "k8s-openapi", "http", "hyper", "tokio", "futures"],
        }],
    },
    Absence {
        sentence: "The crate `fake-apiserver/loops` knows neither the server nor the wire, has nothing to await, and reads no clock.",
        rules: &[
            Dependencies {
                of: "fake-apiserver/loops",
                never: &["fake-apiserver", "kube", "k8s-openapi", "http", "hyper", "tokio", "futures"],
            },
            Words { of: "fake-apiserver/loops", words: CLOCKS, homes: &[] },
        ],
    },
    Absence {
        sentence: "`living/` is above `http/`: nothing imports it but `controllers/` and `server/`.",
        rules: &[Never {
            of: FAKE,
            rooms: &[
                "admission",
                "api",
                "auth",
                "cluster",
                "commit",
                "discovery",
                "http",
                "reconcile",
                "registry",
                "store",
            ],
            never: &["living", "controllers"],
        }],
    },
    Absence {
        sentence: "The crate `conformance/judge` depends neither on the server it judges nor on a client of it.",
        rules: &[Dependencies {
            of: "conformance/judge",
            never: &["fake-apiserver", "controller", "kubelet", "kube", "k8s-openapi", "http", "hyper", "tokio"],
        }],
    },
    Absence {
        sentence: "In the judge a scenario is text only, and a check knows neither the ledger nor the reports.",
        rules: &[
            Only { of: "conformance/judge", rooms: &["scenario"], may: &["names", "observation"] },
            Never {
                of: "conformance/judge",
                rooms: &["check"],
                never: &["baseline", "exchange", "ledger", "report", "score", "verdict"],
            },
        ],
    },
    Absence {
        sentence: "A target (`conformance/src/subject/`) knows neither the verbs nor the player.",
        rules: &[Never { of: "conformance", rooms: &["subject"], never: &["verbs", "stage", "play", "suite"] }],
    },
    Absence {
        sentence: "The rooms of the server, `fake-apiserver/check/`, `controller/`, `controller/kubelet/`, `conformance/` and `conformance/judge/` import each other in no circle.",
        rules: &[
            NoCircles { of: FAKE },
            NoCircles { of: "fake-apiserver/check" },
            NoCircles { of: "controller" },
            NoCircles { of: "controller/kubelet" },
            NoCircles { of: "conformance" },
            NoCircles { of: "conformance/judge" },
        ],
    },
    Absence {
        sentence: "The files of the server and of the machinery below it import each other in no circle, parents and children included, nor do those of its program, `controller/`, `controller/kubelet/` and `conformance/judge/`.",
        rules: &[
            NoCirclesOfFiles { of: FAKE },
            NoCirclesOfFiles { of: MACHINERY },
            NoCirclesOfFiles { of: "fake-apiserver/quantity" },
            NoCirclesOfFiles { of: "fake-apiserver/cli" },
            NoCirclesOfFiles { of: "controller" },
            NoCirclesOfFiles { of: "controller/kubelet" },
            NoCirclesOfFiles { of: "conformance/judge" },
        ],
    },
    Absence {
        sentence: "There is no global mutable state but counters of versions and schemas, the threads that serve, and what is compiled: several servers live in one process, and share compiled schemas and regular expressions by their text.",
        rules: &[
            Statics {
                of: FAKE,
                never: &["mut", "Mutex", "RwLock", "Atomic", "Cell", "RefCell", "ArcSwap"],
                homes: &["discovery::catalogs", "threads"],
            },
            Statics {
                of: "fake-apiserver/cel",
                never: &["mut", "Mutex", "RwLock", "Atomic", "Cell", "RefCell", "ArcSwap"],
                homes: &["go_regex::shared"],
            },
            Statics {
                of: MACHINERY,
                never: &["mut", "Mutex", "RwLock", "Atomic", "Cell", "RefCell", "ArcSwap"],
                homes: &["custom::compiled"],
            },
        ],
    },
    Absence {
        sentence: "Nothing is written to disk that was not asked for.",
        rules: &[Words {
            of: FAKE,
            words: &["fs::write", "File::create", "File::options", "OpenOptions"],
            homes: &["audit", "recorder", "server::cert_dir", "server::kubeconfig"],
        }],
    },
];
