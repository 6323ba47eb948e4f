//! What a run leaves behind: lines on the terminal, JUnit XML, a page to look at, and a folder for each scenario that
//! failed.

mod folder;
mod html;
mod junit;
mod terminal;

pub use folder::leave;
pub use html::html;
pub use junit::junit;
pub use terminal::{progress, table};
