//! Jepsen's EDN, and its log lines.
//!
//! EDN values become JSON: keywords and symbols are texts without the colon, lists, vectors and sets are arrays.

use serde_json::{Map, Number, Value as Json};

use super::{EventType, ForeignEvent, HistoryReadError, ReadProblem};

/// The greatest depth of nested values. The reader is recursive, so it bounds the stack; histories have values three or
/// four deep.
const MAX_DEPTH: usize = 64;

/// Reads the events of an EDN text: maps one after the other, or a vector of them.
pub(super) fn read_events(text: &str) -> Result<Vec<ForeignEvent>, HistoryReadError> {
    let mut reader = EdnReader::new(text);
    let mut events = Vec::new();
    while let Some((line, form)) = reader.next_form()? {
        add_events(line, form, &mut events).map_err(|problem| problem.at_line(line))?;
    }
    Ok(events)
}

fn add_events(line: usize, form: EdnForm, events: &mut Vec<ForeignEvent>) -> Result<(), ReadProblem> {
    match form {
        EdnForm::Map(entries) => events.extend(event_of(line, entries)?),
        EdnForm::Items(items) => {
            for (line, item) in items {
                // The line of a problem in a vector is that of the map.
                let EdnForm::Map(entries) = item else {
                    return Err(ReadProblem::Edn("an event should be a map"));
                };
                events.extend(event_of(line, entries)?);
            }
        }
        _ => return Err(ReadProblem::Edn("an event should be a map")),
    }
    Ok(())
}

/// Returns the event of a map; `None` for those of the nemesis, which is no client: its process is a keyword.
fn event_of(line: usize, entries: Vec<(EdnForm, EdnForm)>) -> Result<Option<ForeignEvent>, ReadProblem> {
    let mut fields = Map::new();
    let mut is_client = true;
    for (key, value) in entries {
        let EdnForm::Word(key) = key else { continue };
        if key == "process" {
            is_client = match value {
                EdnForm::Number(_) | EdnForm::Text(_) => true,
                EdnForm::Word(_) => false,
                _ => return Err(ReadProblem::Edn("a process is a number, a text or a keyword")),
            };
        }
        if fields.insert(key, value.into_json()).is_some() {
            return Err(ReadProblem::Edn("a map has a key twice"));
        }
    }
    let text = |key: &'static str| match fields.get(key) {
        Some(Json::String(text)) => Ok(text.clone()),
        Some(other) if key == "process" => Ok(other.to_string()),
        _ => Err(ReadProblem::MissingKey(key)),
    };
    let client = text("process")?;
    if !is_client {
        return Ok(None);
    }
    let kind = EventType::parse(&text("type")?)?;
    let operation = text("f")?;
    let ns = fields.get("time").and_then(Json::as_u64);
    Ok(Some(ForeignEvent { line, client, kind, operation, fields, ns }))
}

/// Reads log lines: a process, a type, an operation and a value, after whatever the logger writes before them. Lines
/// without one of the four types are no events.
pub(super) fn read_log(text: &str) -> Result<Vec<ForeignEvent>, HistoryReadError> {
    let mut events = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(event) = find_log_event(line) {
            events.extend(log_event(at + 1, event)?);
        }
    }
    Ok(events)
}

/// Returns the part of a line that is an event: from the word before the first type.
fn find_log_event(line: &str) -> Option<&str> {
    let mut before = None;
    for word in line.split_whitespace() {
        if [":invoke", ":ok", ":fail", ":info"].contains(&word) {
            return before;
        }
        // `split_whitespace` gives parts of `line`, so the difference is the offset of the word in it.
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        before = Some(&line[start..]);
    }
    None
}

fn log_event(number: usize, event: &str) -> Result<Option<ForeignEvent>, HistoryReadError> {
    let mut reader = EdnReader { line: number, ..EdnReader::new(event) };
    let mut next = || reader.next_form().map(|form| form.map(|(_, form)| form));
    let missing = |key| ReadProblem::MissingKey(key).at_line(number);
    // Something else than a number is the nemesis, or the text of another part of the program.
    let Ok(Some(EdnForm::Number(process))) = next() else { return Ok(None) };
    let Some(EdnForm::Word(kind)) = next()? else { return Err(missing("type")) };
    let Some(EdnForm::Word(operation)) = next()? else { return Err(missing("f")) };
    let kind = EventType::parse(&kind).map_err(|problem| problem.at_line(number))?;
    let value = match (next(), kind) {
        (Ok(value), _) => value.map_or(Json::Null, EdnForm::into_json),
        // What follows an operation without an answer is often the text of an exception.
        (Err(_), EventType::Info | EventType::Fail) => Json::Null,
        (Err(error), EventType::Invoke | EventType::Ok) => return Err(error),
    };
    let fields = Map::from_iter([("value".to_owned(), value)]);
    Ok(Some(ForeignEvent { line: number, client: process.to_string(), kind, operation, fields, ns: None }))
}

/// A value of EDN.
enum EdnForm {
    Nil,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A keyword or a symbol, without the colon.
    Word(String),
    Items(Vec<(usize, EdnForm)>),
    Map(Vec<(EdnForm, EdnForm)>),
}

impl EdnForm {
    fn into_json(self) -> Json {
        match self {
            Self::Nil => Json::Null,
            Self::Bool(is) => Json::Bool(is),
            Self::Number(number) => Json::Number(number),
            Self::Text(text) | Self::Word(text) => Json::String(text),
            Self::Items(items) => items.into_iter().map(|(_, item)| item.into_json()).collect(),
            Self::Map(entries) => {
                let key = |form: Self| match form.into_json() {
                    Json::String(key) => key,
                    other => other.to_string(),
                };
                Json::Object(
                    entries.into_iter().map(|(name, value)| (key(name), value.into_json())).collect(),
                )
            }
        }
    }
}

/// A reader of EDN.
struct EdnReader<'t> {
    rest: &'t str,
    line: usize,
}

type EdnResult<T> = Result<T, HistoryReadError>;

impl<'t> EdnReader<'t> {
    /// Makes a reader at the first line of `text`.
    fn new(text: &'t str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// Returns an error at the current line.
    fn problem<T>(&self, what: &'static str) -> EdnResult<T> {
        Err(ReadProblem::Edn(what).at_line(self.line))
    }

    /// Reads the next value with its line; `None` at the end of the text.
    fn next_form(&mut self) -> EdnResult<Option<(usize, EdnForm)>> {
        self.skip_blanks(0)?;
        let line = self.line;
        if self.rest.is_empty() { Ok(None) } else { Ok(Some((line, self.read_form(0)?))) }
    }

    fn next_char(&mut self) -> Option<char> {
        let sign = self.rest.chars().next()?;
        self.rest = &self.rest[sign.len_utf8()..];
        self.line += usize::from(sign == '\n');
        Some(sign)
    }

    /// Skips blanks, commas, comments and discarded values.
    fn skip_blanks(&mut self, depth: usize) -> EdnResult<()> {
        while let Some(sign) = self.rest.chars().next() {
            match sign {
                // A comment, to the end of its line.
                ';' => while self.next_char().is_some_and(|sign| sign != '\n') {},
                '#' if self.rest.starts_with("#_") => {
                    self.rest = &self.rest[2..];
                    // `#_` discards the value behind it. One deeper, since `#_#_#_` recurses.
                    self.read_form(depth + 1)?;
                }
                sign if sign == ',' || sign.is_whitespace() => {
                    self.next_char();
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn read_form(&mut self, depth: usize) -> EdnResult<EdnForm> {
        if depth > MAX_DEPTH {
            return self.problem("values are nested too deeply");
        }
        self.skip_blanks(depth)?;
        match self.rest.chars().next() {
            None => self.problem("the text ends within a value"),
            Some('"') => self.read_text(),
            Some('[') => self.read_items(']', depth),
            Some('(') => self.read_items(')', depth),
            Some('{') => self.read_map(depth),
            Some('#') => self.read_dispatched(depth),
            Some('\\') => self.read_character(),
            Some(']' | ')' | '}') => self.problem("a bracket is closed that was not opened"),
            Some(_) => self.read_atom(),
        }
    }

    /// Reads a set, a symbolic value (`##Inf`), or a tagged value, whose tag is left out: `#jepsen.history.Op{...}`.
    fn read_dispatched(&mut self, depth: usize) -> EdnResult<EdnForm> {
        self.next_char();
        if self.rest.starts_with('{') {
            // A set; its items are an array in JSON.
            return self.read_items('}', depth);
        }
        if self.rest.starts_with('#') {
            self.next_char();
            return self.read_atom();
        }
        // The tag is read over: what it tags is the value, whatever type a program would make of it.
        let tag = self.rest.find(|sign: char| sign.is_whitespace() || "{[(\"".contains(sign));
        self.rest = &self.rest[tag.unwrap_or(self.rest.len())..];
        self.read_form(depth + 1)
    }

    /// Reads a character, `\a` or `\newline`, as a text.
    fn read_character(&mut self) -> EdnResult<EdnForm> {
        self.next_char();
        let Some(first) = self.next_char() else { return self.problem("the text ends within a character") };
        let end = self.rest.find(|sign: char| !sign.is_alphanumeric()).unwrap_or(self.rest.len());
        let (more, rest) = self.rest.split_at(end);
        self.rest = rest;
        // The sign behind the backslash may be no letter, as in `\(`; letters after it are a name such as
        // `newline`.
        let name = format!("{first}{more}");
        let code = name.strip_prefix('u').and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let text = match (name.as_str(), code.and_then(char::from_u32)) {
            (name, _) if more.is_empty() => name.to_owned(),
            ("newline", _) => "\n".to_owned(),
            ("return", _) => "\r".to_owned(),
            ("space", _) => " ".to_owned(),
            ("tab", _) => "\t".to_owned(),
            (_, Some(sign)) => sign.to_string(),
            _ => return self.problem("this character is not known"),
        };
        Ok(EdnForm::Text(text))
    }

    fn read_items(&mut self, end: char, depth: usize) -> EdnResult<EdnForm> {
        self.next_char();
        let mut items = Vec::new();
        loop {
            self.skip_blanks(depth)?;
            if self.rest.starts_with(end) {
                self.next_char();
                return Ok(EdnForm::Items(items));
            }
            let line = self.line;
            items.push((line, self.read_form(depth + 1)?));
        }
    }

    fn read_map(&mut self, depth: usize) -> EdnResult<EdnForm> {
        // Keys and values in turn. A key that stands twice is an error of the event (`event_of`), not of the text.
        let EdnForm::Items(items) = self.read_items('}', depth)? else {
            return self.problem("a map has entries");
        };
        if items.len() % 2 != 0 {
            return self.problem("a map has a key without a value");
        }
        let mut forms = items.into_iter().map(|(_, form)| form);
        let mut entries = Vec::new();
        while let (Some(key), Some(value)) = (forms.next(), forms.next()) {
            entries.push((key, value));
        }
        Ok(EdnForm::Map(entries))
    }

    fn read_text(&mut self) -> EdnResult<EdnForm> {
        self.next_char();
        let mut text = String::new();
        loop {
            match self.next_char() {
                None => return self.problem("the text ends within quotes"),
                Some('"') => return Ok(EdnForm::Text(text)),
                Some('\\') => match self.next_char() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('u') => text.push(self.code_point()?),
                    Some(sign @ ('"' | '\\')) => text.push(sign),
                    _ => return self.problem("this escape is not known"),
                },
                Some(sign) => text.push(sign),
            }
        }
    }

    fn code_point(&mut self) -> EdnResult<char> {
        let code = self.rest.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(sign) = code.and_then(char::from_u32) else {
            return self.problem("this escape is not known");
        };
        self.rest = &self.rest[4..];
        Ok(sign)
    }

    fn read_atom(&mut self) -> EdnResult<EdnForm> {
        let ends = |sign: char| sign.is_whitespace() || ",;\"[](){}".contains(sign);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_number = word.trim_start_matches(['-', '+']).starts_with(|sign: char| sign.is_ascii_digit());
        if is_number {
            // `N` and `M` mark numbers of any size. A ratio, `1/2`, is not a number of JSON.
            let digits = word.trim_start_matches('+').trim_end_matches(['N', 'M']);
            return match digits.parse::<Number>() {
                Ok(number) => Ok(EdnForm::Number(number)),
                Err(_) => self.problem("this is not a number"),
            };
        }
        Ok(match word {
            "nil" => EdnForm::Nil,
            "true" => EdnForm::Bool(true),
            "false" => EdnForm::Bool(false),
            _ => EdnForm::Word(word.strip_prefix(':').unwrap_or(word).to_owned()),
        })
    }
}
