//! Models as texts and pictures for people.
//!
//! A model is first made a [`graph::Graph`]: nodes and edges with lines of text and a
//! class each. [`svg`] draws it, with coordinates from [`layout`]; [`dot`] and [`mermaid`]
//! write it for other tools. [`text`] and [`json`] show the model itself: as a listing, and
//! as data for programs.
//!
//! Nothing here reads or writes files; every function returns a string, and the same
//! model gives the same bytes. Names and comments of a model are never trusted: each
//! writer escapes them for its format.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod case;
pub mod describe;
pub mod dot;
pub mod graph;
pub mod json;
pub mod layout;
pub mod mermaid;
pub mod svg;
pub mod terminal;
pub mod text;
pub mod visible;

#[cfg(test)]
mod samples;
