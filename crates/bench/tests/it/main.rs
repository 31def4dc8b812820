//! Tests of `ioxide-bench`, one program.

mod live;
mod parts;
#[path = "../../../cli/tests/it/schema.rs"]
mod schema;
mod truth;

use std::process::Command;

use serde_json::Value as Json;

/// Fails if the figures do not keep the schema that the program prints.
#[track_caller]
fn check_schema(figures: &Json) {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide-bench"))
        .args(["schema", "output-bench"])
        .output()
        .expect("the program runs");
    let schema: Json = serde_json::from_slice(&output.stdout).expect("a schema");
    assert_eq!(schema::violations(&schema, figures), Vec::<String>::new(), "{figures:#}");
}
