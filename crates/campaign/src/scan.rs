//! Reading of a part: its units and the spans of their lines, what was cut off, and its end.
//!
//! Only the beginnings of lines are looked at, so a part is read as fast as the disk gives it, and what is kept is a
//! few numbers per unit. What a unit told is read when it is asked for.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value as Json;

use crate::part::{EndOfPart, FORMAT, MANIFEST, Manifest, PartError, UNITS, VERSION};
use crate::units::{MAX_UNITS, UnitSet};

/// Longer lines are not read. In bytes. Chosen by feel: no record has such lines, and one would fill the memory.
const MAX_LINE: u64 = 256 << 20;

/// A part that was read.
#[derive(Clone, Debug)]
pub struct ScannedPart {
    /// Its directory.
    pub dir: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its units, in the order they were done.
    pub spans: Vec<UnitSpan>,
    /// The unit that was under way when it broke off.
    pub under_way: Option<u64>,
    /// Units that could not be done, with the reason.
    pub left: Vec<(u64, String)>,
    /// True if the last line is not whole.
    pub is_cut: bool,
    /// The reason of its end; `None` if it broke off.
    pub end: Option<EndOfPart>,
    /// The time that its worker was at work; `None` if it broke off or gave no time.
    pub worked: Option<Duration>,
    /// The first of its units that failed.
    pub failed: Option<u64>,
    /// Bytes up to the end of the last unit.
    pub whole: u64,
}

/// The place of the lines of a unit in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSpan {
    /// The unit.
    pub unit: u64,
    /// The first byte of its first line.
    pub start: u64,
    /// Bytes of all its lines.
    pub len: u64,
}

impl ScannedPart {
    /// The units that are done.
    #[must_use]
    pub fn units(&self) -> UnitSet {
        self.spans.iter().map(|span| span.unit).collect()
    }

    /// Returns whether no unit has begun.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.spans.is_empty() && self.under_way.is_none() && self.left.is_empty()
    }

    /// The units it was asked for.
    #[must_use]
    pub fn requested_units(&self) -> UnitSet {
        self.manifest.asked.parse().unwrap_or_default()
    }
}

/// The lines of a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitText {
    /// The lines between its first and its last.
    pub lines: Vec<String>,
    /// Its result.
    pub result: Json,
}

/// Reads the part in `dir`.
///
/// # Errors
/// If it is none, of another version, or damaged elsewhere than at its end.
pub fn scan(dir: &Path) -> Result<ScannedPart, PartError> {
    let manifest = manifest(dir)?;
    let path = dir.join(UNITS);
    let file = File::open(&path).map_err(PartError::at_path(&path))?;
    let mut scanned = ScannedPart {
        dir: dir.to_path_buf(),
        manifest,
        spans: Vec::new(),
        under_way: None,
        left: Vec::new(),
        is_cut: false,
        end: None,
        worked: None,
        failed: None,
        whole: 0,
    };
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut at, mut begun, mut line) = (0, 0, Vec::new());
    for number in 1.. {
        line.clear();
        let n =
            (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).map_err(PartError::at_path(&path))?;
        if n == 0 {
            break;
        }
        // The worker died while it wrote: only the last line can be incomplete, and it counts for nothing.
        if line.last() != Some(&b'\n') {
            scanned.is_cut = true;
            break;
        }
        let damaged = |why: &str| PartError::Damaged { path: path.clone(), line: number, why: why.into() };
        match PartLine::parse_line(&line) {
            PartLine::Begin(unit) => {
                // A unit that begins again after it was cut off counts from its last beginning.
                begun = at;
                scanned.under_way = Some(unit);
            }
            PartLine::Done(unit, has_failed) => {
                if scanned.under_way.take() != Some(unit) {
                    return Err(damaged("a unit is finished that was never started"));
                }
                let end = at + line.len() as u64;
                scanned.spans.push(UnitSpan { unit, start: begun, len: end - begun });
                // Everything up to here is complete; the same command goes on from this point.
                scanned.whole = end;
                if has_failed {
                    scanned.failed.get_or_insert(unit);
                }
            }
            PartLine::Left(unit, why) => {
                scanned.under_way = None;
                scanned.left.push((unit, why));
            }
            PartLine::End(why, worked) => (scanned.end, scanned.worked) = (Some(why), worked),
            PartLine::Told if scanned.under_way.is_some() => (),
            PartLine::Told => return Err(damaged("it belongs to no unit")),
            PartLine::Wrong => return Err(damaged("it is not a line of a part")),
        }
        at += line.len() as u64;
    }
    Ok(scanned)
}

/// Reads the manifest of the part in `dir`.
fn manifest(dir: &Path) -> Result<Manifest, PartError> {
    let path = dir.join(MANIFEST);
    let not = |why: String| PartError::NotAPart { dir: dir.to_path_buf(), why };
    let text = fs::read_to_string(&path).map_err(|error| not(format!("`{MANIFEST}`: {error}")))?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|error| not(format!("`{MANIFEST}`: {error}")))?;
    match &manifest {
        Manifest { format, .. } if format != FORMAT => Err(not(format!("`{MANIFEST}` is of a `{format}`"))),
        Manifest { version, .. } if *version != VERSION => {
            Err(not(format!("it has version {version}, this program reads version {VERSION}")))
        }
        Manifest { count, .. } if *count > MAX_UNITS => {
            Err(not(format!("it is of a plan with {count} units, and a plan has at most {MAX_UNITS}")))
        }
        _ => Ok(manifest),
    }
}

/// A line of a part, recognised by its beginning.
enum PartLine {
    Begin(u64),
    Done(u64, bool),
    Left(u64, String),
    End(EndOfPart, Option<Duration>),
    Told,
    Wrong,
}

impl PartLine {
    fn parse_line(line: &[u8]) -> Self {
        if let Some((unit, _)) = parse_numbered(line, b"{\"begin\":") {
            return Self::Begin(unit);
        }
        if let Some((unit, rest)) = parse_numbered(line, b"{\"done\":") {
            return Self::Done(unit, rest.starts_with(b",\"failed\":true"));
        }
        if let Some((unit, _)) = parse_numbered(line, b"{\"left\":") {
            let told: Option<Json> = serde_json::from_slice(line).ok();
            let why = told.as_ref().and_then(|told| told.get("why")).and_then(Json::as_str);
            return why.map_or(Self::Wrong, |why| Self::Left(unit, why.to_owned()));
        }
        if line.starts_with(b"{\"end\":") {
            let told: Option<Json> = serde_json::from_slice(line).ok();
            let why = told.as_ref().and_then(|told| told.get("why")).and_then(Json::as_str);
            let seconds = told.as_ref().and_then(|told| told.get("seconds")).and_then(Json::as_f64);
            let worked = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            return why.and_then(EndOfPart::from_word).map_or(Self::Wrong, |why| Self::End(why, worked));
        }
        if line.starts_with(b"{") && line.ends_with(b"}\n") { Self::Told } else { Self::Wrong }
    }
}

/// The unit after `head`, from 0, and what follows it.
fn parse_numbered<'l>(line: &'l [u8], head: &[u8]) -> Option<(u64, &'l [u8])> {
    let rest = line.strip_prefix(head)?;
    // Not as JSON: lines are long, and only their beginnings are looked at.
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number: u64 = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    Some((number.checked_sub(1)?, &rest[digits..]))
}

/// Reads the lines of a unit.
///
/// # Errors
/// If the file has changed or its lines are no JSON.
pub fn unit_text(file: &mut File, dir: &Path, span: UnitSpan) -> Result<UnitText, PartError> {
    let path = dir.join(UNITS);
    let damaged = |why: &str| PartError::Damaged {
        path: path.clone(),
        line: 0,
        why: format!("unit {}: {why}", span.unit + 1),
    };
    let mut bytes = vec![0; usize::try_from(span.len).map_err(|_| damaged("it is too long"))?];
    file.seek(SeekFrom::Start(span.start))
        .and_then(|_| file.read_exact(&mut bytes))
        .map_err(PartError::at_path(&path))?;
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    let last = lines.pop().ok_or_else(|| damaged("it has no result"))?;
    let last: Json = serde_json::from_str(&last).map_err(|error| damaged(&error.to_string()))?;
    let result = last.get("result").cloned().ok_or_else(|| damaged("it has no result"))?;
    Ok(UnitText { lines, result })
}

/// The parts in `dir`: itself, or those in it and in its folder `parts`.
///
/// # Errors
/// If it cannot be read.
pub fn parts_in(dir: &Path) -> Result<Vec<PathBuf>, PartError> {
    if dir.join(MANIFEST).exists() {
        return Ok(vec![dir.to_path_buf()]);
    }
    let mut found = Vec::new();
    for folder in [dir.to_path_buf(), dir.join("parts")] {
        let entries = match fs::read_dir(&folder) {
            Err(_) if folder != dir => continue,
            entries => entries.map_err(PartError::at_path(&folder))?,
        };
        found.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.join(MANIFEST).exists()));
    }
    found.sort();
    Ok(found)
}
