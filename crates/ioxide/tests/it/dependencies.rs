//! Tests of what a user of the facade compiles.

use std::collections::BTreeSet;
use std::process::Command;

/// The packages that the facade is built from, as cargo says without the network.
///
/// Features are those of the facade alone, whatever the other crates of the workspace ask for.
fn packages() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--package",
            "ioxide",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names of packages");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_facade_compiles_no_tls_no_certificates_and_no_process_management() {
    let packages = packages();
    assert!(packages.contains("ioxide-wire"), "{packages:?}");
    let heavy =
        ["rustls", "rustls-native-certs", "rustls-webpki", "ring", "rustix", "flate2", "brotli-decompressor"];
    let found: Vec<&str> = heavy.into_iter().filter(|name| packages.contains(*name)).collect();
    assert!(found.is_empty(), "the facade depends on {found:?}");
}
