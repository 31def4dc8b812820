//! The layers of the house: which crate may use which, as the table "Crates" of `ARCHITECTURE.md` says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The crates of the table, by folder, each with the folders of those that it may use.
type LayerTable = BTreeMap<String, Vec<String>>;

/// Returns the dependencies among our crates that the table does not have, and the crates that one of both lacks.
pub(super) fn check(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    let table = match read_table(&text) {
        Ok(table) => table,
        Err(complaint) => return vec![complaint],
    };
    let mut complaints = Vec::new();
    for folder in crate_folders(root).iter().filter(|folder| !table.contains_key(*folder)) {
        complaints.push(format!("crates/{folder} is not in the table of ARCHITECTURE.md"));
    }
    for (folder, allowed) in &table {
        let path = root.join("crates").join(folder).join("Cargo.toml");
        let Ok(manifest) = fs::read_to_string(&path) else {
            complaints.push(format!("{} is missing, and ARCHITECTURE.md has its crate", path.display()));
            continue;
        };
        let forbidden = edges(&manifest).into_iter().filter(|used| !allowed.contains(used));
        complaints.extend(forbidden.map(|used| {
            format!("`{folder}` must not use `{used}`: the table of ARCHITECTURE.md does not have the edge")
        }));
    }
    complaints
}

/// Returns the folders of `crates` that hold a package.
pub(super) fn crate_folders(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let packages = entries.filter(|entry| entry.path().join("Cargo.toml").exists());
    packages.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Reads the table under the heading "Crates": the first cell names the crate, the third what it may use.
fn read_table(architecture: &str) -> Result<LayerTable, String> {
    let section = architecture.split("\n## Crates\n").nth(1).and_then(|rest| rest.split("\n## ").next());
    let section = section.ok_or("ARCHITECTURE.md has no section \"Crates\"")?;
    let rows: Vec<(String, String)> = section.lines().filter_map(read_row).collect();
    let names: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let mut table = LayerTable::new();
    for (name, may_use) in rows {
        let allowed = read_cell(&may_use, &names).map_err(|word| {
            format!("ARCHITECTURE.md: `{name}` may use `{word}`, which is no crate of the table")
        })?;
        table.insert(name, allowed);
    }
    if table.is_empty() { Err("ARCHITECTURE.md has no table of crates".into()) } else { Ok(table) }
}

/// Returns the crate of a row and the cell that says what it may use; `None` for other lines.
fn read_row(line: &str) -> Option<(String, String)> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
    let name = cells.first()?.strip_prefix('`')?.split('`').next()?;
    Some((name.to_owned(), (*cells.get(2)?).to_owned()))
}

/// Reads a cell such as `nothing`, `all but `bench`` or `model, fsm (its readers)`.
fn read_cell(cell: &str, names: &[String]) -> Result<Vec<String>, String> {
    if cell.starts_with("nothing") {
        return Ok(Vec::new());
    }
    if let Some(exceptions) = cell.strip_prefix("all") {
        let excluded: Vec<&str> = exceptions.split('`').skip(1).step_by(2).collect();
        return Ok(names.iter().filter(|name| !excluded.contains(&name.as_str())).cloned().collect());
    }
    let words = cell.split(',').map(|part| part.split('(').next().unwrap_or_default().trim().to_owned());
    words.map(|word| if names.contains(&word) { Ok(word) } else { Err(word) }).collect()
}

/// Returns the folders of our crates among the dependencies of a manifest; those of tests and build scripts do not
/// count.
fn edges(manifest: &str) -> Vec<String> {
    let Ok(manifest) = manifest.parse::<toml::Table>() else { return vec!["an unreadable manifest".into()] };
    let Some(dependencies) = manifest.get("dependencies").and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    let ours = dependencies.keys().filter(|name| *name == "ioxide" || name.starts_with("ioxide-"));
    ours.map(|name| name.strip_prefix("ioxide-").unwrap_or(name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# A\n\n## Crates\n\n| crate | one line | may use | must not know |\n\
                         | --- | --- | --- | --- |\n\
        | `model` | words | nothing of ours | files |\n| `lang` | text | model | runs |\n\
        | `cli` (`ioxide-cli`) | flags | all but `bench` | algorithms |\n| `bench` | figures | all | users |\n\
        \n## Next\n\n| `x` | y | z |\n";

    #[test]
    fn the_table_says_who_may_use_whom() {
        let table = read_table(TABLE).expect("a table");
        assert_eq!(table.keys().collect::<Vec<_>>(), ["bench", "cli", "lang", "model"]);
        assert_eq!(table["model"], Vec::<String>::new());
        assert_eq!(table["lang"], ["model"]);
        assert_eq!(table["cli"], ["model", "lang", "cli"]);
        assert_eq!(table["bench"].len(), 4);
    }

    #[test]
    fn a_crate_that_does_not_exist_is_no_permission() {
        let wrong = TABLE.replace("| text | model |", "| text | model, runner |");
        assert!(read_table(&wrong).is_err_and(|complaint| complaint.contains("`runner`")));
        assert!(read_table("no table").is_err());
    }

    #[test]
    fn an_edge_upwards_is_found() {
        let manifest = "[dependencies]\nioxide-cli.workspace = true\nserde = \"1\"\n[dev-dependencies]\n\
                        ioxide-lang = \"1\"";
        assert_eq!(edges(manifest), ["cli"]);
    }
}
