//! Sources of YAML for comparisons: Go modules, as a list pins them, and folders.

mod document;
mod modules;
mod selection;
pub mod sets;
mod source;

pub use document::Document;
use modules::download;
pub(crate) use modules::folders;
pub(crate) use selection::Selected;
pub use selection::Selection;
pub use source::Source;
