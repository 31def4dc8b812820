//! Systems made of parts, and systems behind channels, each against a second opinion.
//!
//! For a campaign:
//!
//! `IOXIDE_SYSTEMS=10000 cargo test -p ioxide-symex --test it systems::product -- --nocapture`
//! `IOXIDE_ALIKE=1000 cargo test -p ioxide-symex --test it systems::alike -- --nocapture`
//! `IOXIDE_TIMED=10000 cargo test -p ioxide-symex --test it systems::timed -- --nocapture`
//! `IOXIDE_LANES=1000 cargo test -p ioxide-symex --test it systems::lanes -- --nocapture`
//! `IOXIDE_RUNS=20000 cargo test -p ioxide-symex --test it systems::through -- --nocapture`

mod alike;
pub mod generator;
mod lanes;
mod product;
mod through;
mod timed;
