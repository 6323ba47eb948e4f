//! Auditing: the events of requests that a policy asks for, which a log and a webhook get; and the record of requests, which tests read.
//!
//! ```text
//!   request ──▶ policy ──▶ Audited: level, objects, annotations ──▶ events ──▶ backends: log, webhook
//!      └──────▶ RequestLog: the newest ones, in memory
//! ```

mod audited;
mod auditor;
mod backend;
mod buffered;
mod event;
mod format;
mod kept;
mod level;
mod options;
mod output;
mod policy;
mod policy_file;
mod raw;
mod record;
mod requests;
mod rotation;
mod watches;

pub(crate) use audited::{Audited, Course};
pub(crate) use auditor::Auditor;
pub(crate) use event::{Annotation, Origin};
pub use options::{AuditBatchOptions, AuditLogOptions, AuditOptions, AuditTruncateOptions, AuditWebhookOptions};
pub(crate) use policy::Subject;
pub use record::RequestRecord;
pub use requests::RequestLog;
pub(crate) use watches::{Ending, OpenWatch, Watched};
