//! Systems made of parts, and systems behind channels, each against a second opinion.
//!
//! For a campaign:
//!
//! `IOXIDE_SYSTEMS=10000 cargo test -p ioxide-symex --test systems product -- --nocapture`
//! `IOXIDE_ALIKE=1000 cargo test -p ioxide-symex --test systems alike -- --nocapture`
//! `IOXIDE_TIMED=10000 cargo test -p ioxide-symex --test systems timed -- --nocapture`
//! `IOXIDE_LANES=1000 cargo test -p ioxide-symex --test systems lanes -- --nocapture`
//! `IOXIDE_RUNS=20000 cargo test -p ioxide-symex --test systems through -- --nocapture`

mod alike;
mod generator;
mod lanes;
mod product;
mod through;
mod timed;
