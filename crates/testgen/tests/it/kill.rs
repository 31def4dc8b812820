//! Tests of [`ioxide_testgen::kill`].

mod fingerprint;
mod outcome;
mod standing;
mod suspects;
