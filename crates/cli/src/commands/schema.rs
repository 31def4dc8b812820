//! `ioxide schema`: the JSON schemas of the files that ioxide writes, of what `--json` prints, and of the project file,
//! each with its version.

use std::io::{self, Write};

use ioxide_args::SchemaArgs;
use ioxide_model::suggest::nearest_name;
use serde_json::{Map, Value as Json, json};

use crate::exit::{CliError, ExitStatus};

/// The schemas: the kind of file, its description, the schema.
const SCHEMAS: &[(&str, &str, &str)] = &[
    (
        "campaign",
        "`journal.jsonl` (line by line) and `campaign.json` of `campaign`",
        include_str!("../../schemas/campaign-1.json"),
    ),
    ("case", "test cases of `case --format json`", include_str!("../../schemas/case-1.json")),
    ("cases", "`cases.json` of `case --goal`", include_str!("../../schemas/cases-1.json")),
    (
        "feedback",
        "`feedback.json` of `merge` and `rounds/N.json` of `campaign`",
        include_str!("../../schemas/feedback-1.json"),
    ),
    ("kill", "the file of `kill --record`, line by line", include_str!("../../schemas/kill-1.json")),
    (
        "learn-session",
        "the file of `learn --session`, line by line",
        include_str!("../../schemas/learn-session-1.json"),
    ),
    ("mutants", "`mutants.json` of `mutate --out`", include_str!("../../schemas/mutants-1.json")),
    (
        "output-adapter-check",
        "what `adapter check --json` prints",
        include_str!("../../schemas/output-adapter-check-1.json"),
    ),
    ("output-bench", "what `bench --json` prints", include_str!("../../schemas/output-bench-1.json")),
    ("output-check", "what `check --json` prints", include_str!("../../schemas/output-check-1.json")),
    (
        "output-complete",
        "what `complete --json` prints",
        include_str!("../../schemas/output-complete-1.json"),
    ),
    ("output-conform", "what `conform --json` prints", include_str!("../../schemas/output-conform-1.json")),
    ("output-demo", "what `demo --json` prints", include_str!("../../schemas/output-demo-1.json")),
    ("output-diff", "what `diff --json` prints", include_str!("../../schemas/output-diff-1.json")),
    ("output-doctor", "what `doctor --json` prints", include_str!("../../schemas/output-doctor-1.json")),
    ("output-equiv", "what `equiv --json` prints", include_str!("../../schemas/output-equiv-1.json")),
    ("output-fsm", "what `fsm --json` prints", include_str!("../../schemas/output-fsm-1.json")),
    ("output-judge", "what `judge --json` prints", include_str!("../../schemas/output-judge-1.json")),
    (
        "output-judge-clients",
        "what `judge --clients --json` prints",
        include_str!("../../schemas/output-judge-clients-1.json"),
    ),
    ("output-kill", "what `kill --json` prints", include_str!("../../schemas/output-kill-1.json")),
    ("output-learn", "what `learn --json` prints", include_str!("../../schemas/output-learn-1.json")),
    ("output-mutate", "what `mutate --json` prints", include_str!("../../schemas/output-mutate-1.json")),
    (
        "output-purposes",
        "what `purposes --json` prints",
        include_str!("../../schemas/output-purposes-1.json"),
    ),
    ("output-refine", "what `refine --json` prints", include_str!("../../schemas/output-refine-1.json")),
    ("output-repair", "what `repair --json` prints", include_str!("../../schemas/output-repair-1.json")),
    ("output-report", "what `report --json` prints", include_str!("../../schemas/output-report-1.json")),
    (
        "output-requirements",
        "what `requirements --json` prints",
        include_str!("../../schemas/output-requirements-1.json"),
    ),
    ("output-score", "what `score --json` prints", include_str!("../../schemas/output-score-1.json")),
    ("output-test", "what `test --json` prints", include_str!("../../schemas/output-test-1.json")),
    (
        "output-test-clients",
        "what `test --clients --json` prints",
        include_str!("../../schemas/output-test-clients-1.json"),
    ),
    ("part", "`part.json` of a directory of `--part`", include_str!("../../schemas/part-1.json")),
    ("plan", "what `--plan` prints", include_str!("../../schemas/plan-1.json")),
    ("project", "the project file `ioxide.toml`", include_str!("../../schemas/project-1.json")),
    ("record", "records of `test --report`, line by line", include_str!("../../schemas/record-1.json")),
    ("suite", "suites and `regressions.jsonl`, line by line", include_str!("../../schemas/suite-1.json")),
    ("trees", "`trees.json` of `kill --trees`", include_str!("../../schemas/trees-1.json")),
    (
        "units",
        "`units.jsonl` of a directory of `--part`, line by line",
        include_str!("../../schemas/units-1.json"),
    ),
];

/// The commands that print what another one prints, as its parts are put together: name and description.
const MERGING: [(&str, &str); 2] = [
    ("output-campaign", "what `campaign --json` prints: the result of the command that the plan names"),
    ("output-merge", "what `merge --json` prints: the result of the command that the parts are of"),
];

/// The schemas of commands that can be done in parts.
const IN_PARTS: [&str; 6] =
    ["output-bench", "output-conform", "output-kill", "output-learn", "output-score", "output-test"];

/// Prints a schema, or the list of schemas.
pub fn run(args: &SchemaArgs) -> Result<ExitStatus, CliError> {
    let mut out = io::stdout().lock();
    let Some(name) = &args.name else {
        let mut listed: Vec<(&str, &str)> = SCHEMAS.iter().map(|(name, about, _)| (*name, *about)).collect();
        listed.extend(MERGING);
        listed.sort_unstable();
        for (name, about) in listed {
            writeln!(out, "{name:<20} {about}")?;
        }
        return Ok(ExitStatus::Success);
    };
    if let Some((_, about)) = MERGING.iter().find(|(known, _)| known == name) {
        writeln!(out, "{:#}", merging_schema(name, about))?;
        return Ok(ExitStatus::Success);
    }
    let Some(schema) = find_schema(name) else {
        let stop = CliError::usage(format!("there is no schema `{name}`"));
        let names = SCHEMAS.iter().map(|(known, ..)| *known).chain(MERGING.map(|(known, _)| known));
        return Err(match nearest_name(name, names) {
            Some(near) => stop.help(format!("did you mean `{near}`?")),
            None => stop.help("`ioxide schema` lists them all"),
        });
    };
    write!(out, "{schema}")?;
    Ok(ExitStatus::Success)
}

fn find_schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(known, ..)| *known == name).map(|(_, _, schema)| *schema)
}

/// Returns the schema of a command that prints what one of the commands in parts prints.
fn merging_schema(name: &str, about: &str) -> Json {
    let mut forms = Vec::new();
    let mut definitions = Map::new();
    for part in IN_PARTS {
        let mut schema: Json =
            find_schema(part).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        // The definitions of a part move down with it.
        move_references(&mut schema, &format!("#/$defs/{part}/$defs/"));
        if let Some(members) = schema.as_object_mut() {
            members.remove("$schema");
        }
        forms.push(json!({ "$ref": format!("#/$defs/{part}") }));
        definitions.insert(part.to_owned(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{name}, version 1"),
        "description": format!("{about}; `ioxide schema` has each of them on its own."),
        "type": "object",
        "required": ["version"],
        "properties": { "version": { "const": 1 } },
        "anyOf": forms,
        "$defs": definitions,
    })
}

/// Lets the references to definitions in `schema` begin with `prefix`.
fn move_references(schema: &mut Json, prefix: &str) {
    match schema {
        Json::Object(members) => {
            for (name, member) in members {
                match member {
                    Json::String(target) if name == "$ref" => *target = target.replace("#/$defs/", prefix),
                    _ => move_references(member, prefix),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| move_references(item, prefix)),
        _ => (),
    }
}
