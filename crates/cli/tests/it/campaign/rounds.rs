//! Rounds: what one has covered or killed is not done again in the next, and the whole is the same wherever units ran.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::driver::plan;
use super::{Told, in_parts, ioxide, merge, path, read};

/// A campaign of purposes with few runs a round, so that one round is not enough.
const COVER: [&str; 12] = [
    "test",
    "examples/brp/spec.iox",
    "--sut",
    "model:examples/brp/spec.iox",
    "--tester",
    "cover",
    "--shares",
    "4",
    "--runs",
    "4",
    "--seed",
    "1",
];

/// A hunt on a system that fails.
const HUNT: [&str; 13] = [
    "test",
    "examples/brp/spec.iox",
    "--sut",
    "model:examples/brp/m3.iox",
    "--tester",
    "hunt",
    "--shares",
    "3",
    "--steps",
    "120",
    "--seed",
    "5",
    "--keep-going",
];

/// A campaign of `run` with `workers` and `more` in its plan: what it says, and its folder.
fn campaign(run: &[&str], workers: usize, more: &str) -> (Told, tempfile::TempDir, PathBuf) {
    let (dir, file, out) = plan(run, &format!("workers = {workers}\nbatch = \"200ms\"\n{more}"));
    (ioxide(&["campaign", path(&file)]), dir, out)
}

/// The units of all parts in `out`, with their results.
fn units(out: &Path) -> BTreeMap<u64, Json> {
    let mut found = BTreeMap::new();
    for part in fs::read_dir(out.join("parts")).expect("parts").flatten() {
        let Ok(text) = fs::read_to_string(part.path().join("units.jsonl")) else { continue };
        for line in text.lines().filter(|line| line.starts_with("{\"done\":")) {
            let done: Json = serde_json::from_str(line).expect("a line");
            let unit = done["done"].as_u64().expect("a number");
            assert!(found.insert(unit, done["result"].clone()).is_none(), "unit {unit} was done twice");
        }
    }
    found
}

/// Returns the feedback that a round begins with.
fn known(out: &Path, round: u64) -> Json {
    serde_json::from_str(&read(&out.join(format!("rounds/{round}.json")))).expect("feedback")
}

/// Returns the output and the files of a merged campaign.
fn whole(told: &Told, dir: &Path) -> Vec<String> {
    let file = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default().replace(path(dir), "DIR");
    let files = ["campaign.jsonl", "summary.md", "junit.xml", "suite.jsonl", "kill.jsonl"].map(file);
    std::iter::once(told.out.clone()).chain(files).collect()
}

/// Both are the same, or here is the first line that is not.
#[track_caller]
fn same(ours: &[String], expected: &[String], what: &str) {
    assert_eq!(ours.len(), expected.len(), "{what}");
    for (mine, theirs) in ours.iter().zip(expected) {
        let differ = mine.lines().zip(theirs.lines()).find(|(mine, theirs)| mine != theirs);
        assert_eq!(differ, None, "{what}");
        assert_eq!(mine.len(), theirs.len(), "{what}");
    }
}

/// Does all rounds of `run` by hand, each in `n` parts; what the last merge says.
fn by_hand(run: &[&str], n: usize, dir: &Path) -> (Told, usize) {
    let (parts, out) = (dir.join("parts"), dir.join("whole"));
    in_parts(run, n, &parts.join("1"));
    for round in 2.. {
        let folders: Vec<PathBuf> = (1..round).map(|round| parts.join(round.to_string())).collect();
        let mut words = vec!["merge"];
        words.extend(folders.iter().map(|folder| path(folder)));
        words.extend(["--out", path(&out)]);
        fs::remove_dir_all(&out).ok();
        let told = ioxide(&words);
        let feedback = out.join("feedback.json");
        if !feedback.exists() {
            return (told, round - 1);
        }
        let more = ["--feedback", path(&feedback)];
        in_parts(&[run, &more].concat(), n, &parts.join(round.to_string()));
    }
    unreachable!("rounds have an end")
}

#[test]
fn what_a_round_has_covered_is_left_out_of_the_next() {
    let (told, _dir, out) = campaign(&COVER, 2, "rounds = 6\n");
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.err.contains("nothing is left to do"), "{}", told.err);
    let units = units(&out);
    // The second opinion: the switches that the units of the first round say they have certainly taken.
    let taken: BTreeSet<u64> = (1..=4)
        .flat_map(|unit| units[&unit]["coverage"]["taken"].as_array().expect("switches").clone())
        .filter(|taken| taken[1].as_u64() > Some(0))
        .filter_map(|taken| taken[0].as_u64())
        .collect();
    let covered: BTreeSet<u64> = known(&out, 2)["known"]["covered"]
        .as_array()
        .expect("switches")
        .iter()
        .filter_map(Json::as_u64)
        .collect();
    assert_eq!(covered, taken);
    let runs = |units: &BTreeMap<u64, Json>, from: u64| -> u64 {
        (from..from + 4).map(|unit| units[&unit]["passed"].as_u64().expect("a number")).sum()
    };
    assert!(runs(&units, 5) < runs(&units, 1), "the second round has less to do");
    assert!(units.len() < 24, "{} units", units.len());
    // Without rounds the same runs again cover what is covered.
    assert!(told.out.contains("16 of 16 covered"), "{}", told.out);
}

#[test]
fn rounds_are_the_same_wherever_they_run() {
    for (run, rounds) in [(&COVER[..], "6"), (&HUNT[..], "3")] {
        let more = format!("rounds = {rounds}\n");
        let (one, _one_dir, one_out) = campaign(run, 1, &more);
        let expected = whole(&one, &one_out.join("merged"));
        let (two, _two_dir, two_out) = campaign(run, 2, &more);
        same(&whole(&two, &two_out.join("merged")), &expected, &format!("{run:?}: {}", two.err));
        let dir = tempfile::tempdir().expect("a folder");
        let (hand, _) = by_hand(&[run, &["--rounds", rounds]].concat(), 2, dir.path());
        same(&whole(&hand, &dir.path().join("whole")), &expected, &format!("{run:?} by hand: {}", hand.err));
        assert_eq!((one.code, two.code), (hand.code, hand.code), "{}", hand.err);
    }
}

/// A driver that was killed in the second round, with one part cut off in the middle of a line: made by hand, so that
/// no machine is too fast or too slow for it.
#[test]
fn rounds_go_on_where_they_stopped() {
    let (told, dir, out) = campaign(&HUNT, 1, "rounds = 3\n");
    let expected = whole(&told, &out.join("merged"));
    let done = units(&out);
    let mut of_round: Vec<PathBuf> = fs::read_dir(out.join("parts"))
        .expect("parts")
        .flatten()
        .map(|entry| entry.path())
        .filter(|part| {
            fs::read_to_string(part.join("part.json")).is_ok_and(|text| !text.contains("\"round\": 1"))
        })
        .collect();
    of_round.sort();
    let (first, rest) = of_round.split_first().expect("later rounds");
    let text = read(&first.join("units.jsonl"));
    fs::write(first.join("units.jsonl"), &text[..text.len() / 2]).expect("cut");
    rest.iter().for_each(|part| fs::remove_dir_all(part).expect("gone"));
    fs::remove_dir_all(out.join("merged")).expect("gone");
    fs::remove_file(out.join("rounds/3.json")).expect("gone");
    let again = ioxide(&["campaign", path(&dir.path().join("plan.toml"))]);
    assert!(again.err.contains("continuing: "), "{}", again.err);
    same(&whole(&again, &out.join("merged")), &expected, &again.err);
    assert_eq!(units(&out).keys().collect::<Vec<_>>(), done.keys().collect::<Vec<_>>());
}

#[test]
fn goals_end_a_campaign_in_any_round() {
    let (told, _dir, out) = campaign(&HUNT[..12], 2, "rounds = 50\nuntil = \"switches\"\n");
    // The system is wrong: the first failure is the end.
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(units(&out).len() < 150);
    let right: Vec<&str> = HUNT[..12]
        .iter()
        .map(|&word| if word.ends_with("m3.iox") { "model:examples/brp/spec.iox" } else { word })
        .collect();
    let (told, _dir, out) = campaign(&right, 2, "rounds = 50\nuntil = \"switches\"\n");
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(units(&out).len() < 150, "{} units", units(&out).len());
    let (one, _one_dir, _) = campaign(&right, 1, "rounds = 50\nuntil = \"switches\"\n");
    same(&[one.out], &[told.out], &one.err);
}

const KILL: [&str; 4] = ["kill", "examples/brp/spec.iox", "--at", "r7"];

#[test]
fn what_a_round_has_killed_is_no_unit_any_more() {
    let (told, _dir, out) = campaign(&KILL, 2, "rounds = 3\n");
    assert_eq!(told.code, Some(0), "{}", told.err);
    let done = units(&out);
    let outcomes = |text: &str| -> BTreeMap<String, String> {
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        let word =
            |line: Json| Some((line["mutant"].as_str()?.to_owned(), line["outcome"].as_str()?.to_owned()));
        lines.filter_map(word).collect()
    };
    let ours = outcomes(&read(&out.join("merged/kill.jsonl")));
    assert!(done.len() < ours.len(), "{} units for {} mutants", done.len(), ours.len());
    // The second opinion: every mutant decided by itself.
    let dir = tempfile::tempdir().expect("a folder");
    let record = dir.path().join("kill.jsonl");
    ioxide(&[&KILL[..], &["--record", path(&record)]].concat());
    assert_eq!(ours, outcomes(&read(&record)));
    // And where units ran does not matter.
    let expected = whole(&told, &out.join("merged"));
    let (one, _one_dir, one_out) = campaign(&KILL, 1, "rounds = 3\n");
    same(&whole(&one, &one_out.join("merged")), &expected, &one.err);
    let (hand, _) = by_hand(&[&KILL[..], &["--rounds", "3"]].concat(), 2, dir.path());
    same(&whole(&hand, &dir.path().join("whole")), &expected, &hand.err);
    assert_eq!(hand.code, Some(0), "{}", hand.err);
}

const SCORE: [&str; 9] =
    ["score", "examples/brp/spec.iox", "random", "--runs", "1", "--steps", "20", "--at", "r7"];

#[test]
fn survivors_are_played_again_until_the_score_is_reached() {
    let (told, _dir, out) = campaign(&SCORE, 2, "rounds = 3\n");
    let first = ioxide(&SCORE);
    let score = |text: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix("score: ")).expect("a score");
        line.split_whitespace().next().and_then(|share| share.parse().ok()).expect("a number")
    };
    assert!(score(&told.out) > score(&first.out), "{} {}", told.out, first.out);
    // Nobody who was killed, or cannot be, is played again.
    let done = units(&out);
    let mutants = done.values().filter(|result| result.get("decision").is_some()).count() as u64;
    let later: Vec<u64> = done.keys().copied().filter(|&unit| unit > mutants).collect();
    assert!(!later.is_empty() && (later.len() as u64) < 2 * mutants, "{} units", later.len());
    for unit in later {
        let before: Vec<&Json> =
            (1..unit).rev().filter(|it| (unit - it) % mutants == 0).map(|it| &done[&it]).collect();
        assert!(
            before.iter().all(|result| result["killed_by"].as_array().is_some_and(Vec::is_empty)),
            "{unit}"
        );
        assert_eq!(before.last().map(|first| &first["decision"]["outcome"]), Some(&Json::from("killed")));
    }
    let (one, _one_dir, _) = campaign(&SCORE, 1, "rounds = 3\n");
    same(&[one.out], std::slice::from_ref(&told.out), &one.err);
    let (hand, _) =
        by_hand(&[&SCORE[..], &["--rounds", "3"]].concat(), 2, tempfile::tempdir().expect("a folder").path());
    same(&[hand.out], std::slice::from_ref(&told.out), &hand.err);
    // A goal that is reached in the first round, before all mutants were looked at; and one that never is.
    let (few, _few_dir, few_out) = campaign(&SCORE, 1, "until = 5\n");
    assert_eq!(few.code, Some(0), "{}", few.err);
    assert!(few.err.contains("were not decided"), "{}", few.err);
    assert!((units(&few_out).len() as u64) < mutants);
    let (many, _many_dir, _) = campaign(&SCORE, 2, "until = 5\n");
    same(&[many.out], &[few.out], "what was done after the goal does not count");
    let (never, _never_dir, _) = campaign(&SCORE, 2, "until = 100\n");
    assert_eq!(never.code, Some(5), "{}", never.err);
    assert!(never.err.contains("goal not reached"), "{}", never.err);
}

#[test]
fn mistakes_with_rounds_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let part = dir.path().join("part");
    let random = |more: &[&str]| ioxide(&[&super::CHOOSING[..], more].concat());
    let cover = |more: &[&str]| ioxide(&[&COVER[..], more].concat());
    let feedback = dir.path().join("feedback.json");
    fs::write(&feedback, "{}").expect("written");
    let other = dir.path().join("other");
    in_parts(&[&COVER[..], &["--rounds", "3"]].concat(), 1, &other);
    merge(&other, &dir.path().join("whole"), &[]);
    let good = dir.path().join("whole/feedback.json");
    for (told, why) in [
        (random(&["--rounds", "2", "--plan"]), "ignores earlier coverage"),
        (cover(&["--rounds", "2"]), "`--rounds` is for a campaign in parts"),
        (
            cover(&["--rounds", "2", "--units", "5", "--part", path(&part)]),
            "unit `round-2/share-1` is of round 2",
        ),
        (
            cover(&["--rounds", "2", "--part", path(&part), "--feedback", path(&feedback)]),
            "is not feedback of a round",
        ),
        (cover(&["--rounds", "2", "--part", path(&part), "--feedback", path(&good)]), "is of another plan"),
        (cover(&["--rounds", "0", "--plan"]), "invalid value '0'"),
        (
            ioxide(&["score", "examples/adder.iox", "cases", "--rounds", "2", "--plan"]),
            "does the same in every round",
        ),
        (
            ioxide(&["conform", "examples/brp", "examples/brp/spec.iox", "--rounds", "2", "--plan"]),
            "does not help with another",
        ),
    ] {
        assert_eq!(told.code, Some(2), "{why}: {}", told.err);
        assert!(told.err.contains(why), "{why}: {}", told.err);
    }
    // Parts of one round that began with different feedback do not belong together.
    let three = [&COVER[..], &["--rounds", "3"]].concat();
    let mut changed: Json = serde_json::from_str(&read(&good)).expect("feedback");
    changed["known"]["covered"] = Json::Array(Vec::new());
    fs::write(&feedback, changed.to_string()).expect("written");
    for (name, file) in [("2a", &good), ("2b", &feedback)] {
        let place = other.join(name);
        let more = [
            "--feedback",
            path(file),
            "--partition",
            if name == "2a" { "1/2" } else { "2/2" },
            "--part",
            path(&place),
        ];
        assert_eq!(ioxide(&[&three[..], &more].concat()).code, Some(0));
    }
    let told = merge(&other, &dir.path().join("mixed"), &[]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("its round 2 began with other feedback"), "{}", told.err);
    let (file_dir, file, _) = plan(&COVER, "rounds = 2\n");
    let told = ioxide(&["campaign", path(&file), "--on", "print"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("rounds cannot be printed"), "{}", told.err);
    drop(file_dir);
}
