//! Tests of `layers`.

mod cache;
mod forall;
mod interval;
mod normalise;
mod pigeons;
mod shape;
mod validate;
