//! The explorer: a model, recorded runs and a live campaign in a browser, served on loopback.
//!
//! [`walk`] is the heart, and the terminal stepper's as well: a path of choices becomes a belief.

pub mod walk;
