//! The kinds that are asked, not stored: tokens and access reviewed.
