//! Tests of `server`.

mod uri;
