//! What a run leaves behind: lines on the terminal, JUnit XML, and a folder for each scenario that failed.

mod folder;
mod junit;
mod terminal;

pub use folder::leave;
pub use junit::junit;
pub use terminal::{progress, table};
