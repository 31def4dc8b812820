//! The pages in a real browser: the report opened from disk, and what it shows.

#[expect(dead_code, reason = "some tests need less of it than others")]
mod driver;
mod explorer;
