//! Tests of `z3::locate`.

use std::path::Path;

use ioxide_smt::z3::locate::wheel_folders;

#[test]
fn the_wheel_of_an_environment_is_looked_for_beside_the_program() {
    let found = wheel_folders(Path::new("/nowhere/venv/bin"));
    assert!(
        found.iter().all(|path| path.starts_with("/nowhere/venv") && path.ends_with("z3/lib")),
        "{found:?}"
    );
}
