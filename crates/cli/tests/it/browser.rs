//! The pages in a real browser: the report opened from disk, the explorer served on loopback.

mod axe;
mod driver;
mod explorer;
mod learning;
mod pictures;
mod report;
mod timeline;
