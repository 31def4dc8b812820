//! The parser of TorXakis texts: definitions.
//!
//! A definition that cannot be read is skipped up to its `ENDDEF`; all that are wrong are reported.

mod automaton;
mod behaviour;
mod formula;

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Span};

use super::lexer::{Lexeme, TxsToken, lex};
use super::tree::{
    ChanDef, ConnectDef, ExitDef, FuncDef, ModelDef, ProcDef, PurposeDef, Specification, TxsCodec, TxsSocket,
    TypeDef, VarDef,
};
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};

/// The greatest nesting depth of formulas and behaviours. Chosen by feel: the parser is recursive, and people write
/// far less.
const MAX_NESTING: usize = 64;
/// The greatest number of behaviour nodes of one text. Chosen by feel: it bounds the memory that a text can ask for.
const MAX_BEHAVIOURS: usize = 500_000;

/// The keywords, which are no names.
const WORDS: [&str; 42] = [
    "TYPEDEF",
    "FUNCDEF",
    "CONSTDEF",
    "CHANDEF",
    "PROCDEF",
    "STAUTDEF",
    "MODELDEF",
    "PURPDEF",
    "CNECTDEF",
    "MAPPERDEF",
    "ENDDEF",
    "IF",
    "THEN",
    "ELSE",
    "FI",
    "LET",
    "IN",
    "NI",
    "STOP",
    "HIDE",
    "ACCEPT",
    "EXIT",
    "HIT",
    "MISS",
    "ISTEP",
    "QSTEP",
    "CHAN",
    "OUT",
    "SYNC",
    "BEHAVIOUR",
    "GOAL",
    "STATE",
    "VAR",
    "INIT",
    "TRANS",
    "CLIENTSOCK",
    "SERVERSOCK",
    "HOST",
    "PORT",
    "ENCODE",
    "DECODE",
    "REGEX",
];

/// The result of reading; an error has been reported.
pub(super) type TxsRead<T> = Result<T, Reported>;

/// Returns `spec` with the definitions of `text` added; errors go into `sink`.
pub(super) fn parse_specification(
    text: &str,
    file: FileId,
    spec: Specification,
    sink: &mut FindingSink,
) -> Specification {
    let tokens = lex(text, file, sink);
    let mut reader = TxsReader { tokens, at: 0, nesting: 0, owner: None, spec, sink };
    reader.parse_definitions();
    reader.spec
}

/// The state of reading one text.
struct TxsReader<'s> {
    tokens: Vec<TxsToken>,
    at: usize,
    nesting: usize,
    /// The process whose body is being read.
    owner: Option<usize>,
    spec: Specification,
    sink: &'s mut FindingSink,
}

impl TxsReader<'_> {
    /// Parses all definitions; after an error it goes on with the next one.
    fn parse_definitions(&mut self) {
        while *self.lexeme() != Lexeme::End {
            let before = self.at;
            if self.parse_definition().is_err() {
                self.skip_definition(before);
            }
        }
    }

    /// Parses one definition, by the word that it begins with.
    fn parse_definition(&mut self) -> TxsRead<()> {
        self.owner = None;
        let Lexeme::Word(word) = self.lexeme().clone() else { return self.report_expected("a definition") };
        match word.as_str() {
            "TYPEDEF" => self.type_def(),
            "FUNCDEF" => self.func_def(),
            "CONSTDEF" => self.const_def(),
            "CHANDEF" => self.chan_def(),
            "PROCDEF" => self.proc_def(),
            "STAUTDEF" => self.automaton_def(),
            "MODELDEF" => {
                let model = self.model_def("the name of a model")?;
                self.spec.models.push(model);
                Ok(())
            }
            "MAPPERDEF" => {
                let mapper = self.model_def("the name of a mapper")?;
                self.spec.mappers.push(mapper);
                Ok(())
            }
            "PURPDEF" => self.purpose_def(),
            "CNECTDEF" => self.connect_def(),
            _ => self.report_expected("a definition, such as `PROCDEF`"),
        }
    }

    /// Skips to behind the next `ENDDEF`, or to before the next definition.
    fn skip_definition(&mut self, before: usize) {
        // At least one word is skipped, so the loop over definitions ends.
        if self.at == before {
            self.bump();
        }
        loop {
            match self.lexeme() {
                Lexeme::End => return,
                Lexeme::Word(word) if word == "ENDDEF" => return self.bump(),
                // `ENDDEF` is asked before; any other word of this form starts the next definition, so an
                // `ENDDEF` is missing.
                Lexeme::Word(word) if word.len() > 6 && word.ends_with("DEF") && WORDS.contains(&&**word) => {
                    return;
                }
                _ => self.bump(),
            }
        }
    }

    // Tokens.

    /// Returns the lexeme at the cursor.
    fn lexeme(&self) -> &Lexeme {
        &self.tokens[self.at].lexeme
    }

    fn lexeme_after(&self, n: usize) -> &Lexeme {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].lexeme
    }

    /// Returns the place of the lexeme at the cursor.
    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// From `start` to the last word or sign that was read.
    fn span_since(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        // Nothing was read since `start`.
        if last.start < start.start { start } else { start.to(last) }
    }

    /// Moves the cursor on; it stays at the end of the text.
    fn bump(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn at_sign(&self, sign: &str) -> bool {
        matches!(self.lexeme(), Lexeme::Sign(found) if *found == sign)
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.lexeme(), Lexeme::Word(found) if found == word)
    }

    /// Takes `sign` if it is next; returns whether it was.
    fn eat(&mut self, sign: &str) -> bool {
        let found = self.at_sign(sign);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes `sign` or reports that it is missing.
    fn expect_sign(&mut self, sign: &str) -> TxsRead<()> {
        if self.eat(sign) { Ok(()) } else { self.report_expected(&format!("`{sign}`")) }
    }

    fn expect_word(&mut self, word: &str) -> TxsRead<()> {
        if self.eat_word(word) { Ok(()) } else { self.report_expected(&format!("`{word}`")) }
    }

    fn at_name(&self) -> bool {
        matches!(self.lexeme(), Lexeme::Word(word) if !WORDS.contains(&&**word))
    }

    /// Takes a name that is no reserved word, or reports that `what` is missing.
    fn expect_name(&mut self, what: &str) -> TxsRead<Name> {
        let span = self.span();
        match self.lexeme().clone() {
            Lexeme::Word(text) if !WORDS.contains(&&*text) => {
                self.bump();
                Ok(Name { text, span })
            }
            _ => self.report_expected(what),
        }
    }

    fn expect_number(&mut self) -> TxsRead<String> {
        let Lexeme::Number(text) = self.lexeme().clone() else { return self.report_expected("a number") };
        self.bump();
        Ok(text)
    }

    fn expect_text(&mut self) -> TxsRead<String> {
        let Lexeme::Text(text) = self.lexeme().clone() else {
            return self.report_expected("a text in quotes");
        };
        self.bump();
        Ok(text)
    }

    /// Reports that something else was expected here.
    fn report_expected<T>(&mut self, what: &str) -> TxsRead<T> {
        let span = self.span();
        let found = match self.lexeme() {
            Lexeme::Word(word) => format!("`{word}`"),
            Lexeme::Number(text) => format!("`{text}`"),
            Lexeme::Text(_) | Lexeme::Quoted(_) => "a text".into(),
            Lexeme::Sign(sign) => format!("`{sign}`"),
            Lexeme::End => "the end of the text".into(),
        };
        Err(self
            .sink
            .error(|| Diagnostic::new(Code::TxsSyntax, span, format!("expected {what}, found {found}"))))
    }

    /// One level deeper.
    fn with_nesting<T>(&mut self, read: impl FnOnce(&mut Self) -> TxsRead<T>) -> TxsRead<T> {
        if self.nesting >= MAX_NESTING {
            let span = self.span();
            return Err(self.sink.error(|| {
                let message = format!("this is nested more than {MAX_NESTING} deep");
                Diagnostic::new(Code::NestingTooDeep, span, message)
                    .help("name the inner part with `PROCDEF` or `FUNCDEF`")
            }));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    // Definitions.

    /// The keyword, the name and `::=`.
    fn parse_heading(&mut self, what: &str) -> TxsRead<Name> {
        self.bump();
        let name = self.expect_name(what)?;
        self.expect_sign("::=")?;
        Ok(name)
    }

    fn type_def(&mut self) -> TxsRead<()> {
        let name = self.parse_heading("the name of a type")?;
        let mut ctors = Vec::new();
        loop {
            let ctor = self.expect_name("the name of a constructor")?;
            let fields = if self.eat("{") { self.var_defs("}")? } else { Vec::new() };
            ctors.push((ctor, fields));
            if !self.eat("|") {
                break;
            }
        }
        // The definition is added only when it is complete: half of a type would make its uses wrong.
        self.expect_word("ENDDEF")?;
        self.spec.types.push(TypeDef { name, ctors });
        Ok(())
    }

    /// `x, y :: Int; z :: Bool` up to and with `close`; every one has a sort.
    fn var_defs(&mut self, close: &str) -> TxsRead<Vec<VarDef>> {
        let mut found = Vec::new();
        while !self.at_sign(close) {
            self.var_group(&mut found)?;
            // A semicolon may end the list as well.
            if !self.eat(";") {
                break;
            }
        }
        self.expect_sign(close)?;
        Ok(found)
    }

    /// `x, y :: Int`
    fn var_group(&mut self, found: &mut Vec<VarDef>) -> TxsRead<()> {
        let names = self.parse_names("a name")?;
        self.expect_sign("::")?;
        let sort = self.expect_name("a type")?;
        found.extend(names.into_iter().map(|name| VarDef { name, sort: Some(sort.clone()) }));
        Ok(())
    }

    /// `a, b, c`
    fn parse_names(&mut self, what: &str) -> TxsRead<Vec<Name>> {
        let mut names = vec![self.expect_name(what)?];
        while self.eat(",") {
            names.push(self.expect_name(what)?);
        }
        Ok(names)
    }

    fn func_def(&mut self) -> TxsRead<()> {
        self.bump();
        let name = self.expect_name("the name of a function")?;
        let params = if self.eat("(") { self.var_defs(")")? } else { Vec::new() };
        self.expect_sign("::")?;
        let result = self.expect_name("a type")?;
        self.expect_sign("::=")?;
        let body = self.parse_formula()?;
        self.expect_word("ENDDEF")?;
        self.spec.functions.push(FuncDef { name, params, result, body, is_constant: false });
        Ok(())
    }

    /// `CONSTDEF a :: Int ::= 1; b :: Int ::= 2 ENDDEF`
    fn const_def(&mut self) -> TxsRead<()> {
        self.bump();
        while !self.at_word("ENDDEF") {
            let name = self.expect_name("the name of a constant")?;
            self.expect_sign("::")?;
            let result = self.expect_name("a type")?;
            self.expect_sign("::=")?;
            let body = self.parse_formula()?;
            // A constant is a function without parameters, so both are typed by the same code.
            let params = Vec::new();
            self.spec.functions.push(FuncDef { name, params, result, body, is_constant: true });
            if !self.eat(";") {
                break;
            }
        }
        self.expect_word("ENDDEF")
    }

    fn chan_def(&mut self) -> TxsRead<()> {
        self.parse_heading("the name of the channels")?;
        while self.at_name() {
            let group = self.channel_group()?;
            self.spec.channels.extend(group);
            if !self.eat(";") {
                break;
            }
        }
        self.expect_word("ENDDEF")
    }

    /// `A, B :: Int # Bool`
    fn channel_group(&mut self) -> TxsRead<Vec<ChanDef>> {
        let names = self.parse_names("the name of a channel")?;
        let sorts = if self.eat("::") { self.parse_sorts()? } else { Vec::new() };
        Ok(names.into_iter().map(|name| ChanDef { name, sorts: sorts.clone() }).collect())
    }

    /// `Int # Bool`
    fn parse_sorts(&mut self) -> TxsRead<Vec<Name>> {
        let mut sorts = vec![self.expect_name("a type")?];
        while self.eat("#") {
            sorts.push(self.expect_name("a type")?);
        }
        Ok(sorts)
    }

    /// `[ A :: Int; B ]`
    fn channel_params(&mut self) -> TxsRead<Vec<ChanDef>> {
        self.expect_sign("[")?;
        let mut channels = Vec::new();
        while !self.at_sign("]") {
            channels.extend(self.channel_group()?);
            if !self.eat(";") {
                break;
            }
        }
        self.expect_sign("]")?;
        Ok(channels)
    }

    /// `[channels] (parameters) EXIT sorts ::=`
    fn process_heading(&mut self) -> TxsRead<(Name, Vec<ChanDef>, Vec<VarDef>, ExitDef)> {
        self.bump();
        let name = self.expect_name("the name of a process")?;
        let channels = self.channel_params()?;
        let params = if self.eat("(") { self.var_defs(")")? } else { Vec::new() };
        let exit = self.exit_def()?;
        self.expect_sign("::=")?;
        Ok((name, channels, params, exit))
    }

    fn exit_def(&mut self) -> TxsRead<ExitDef> {
        if self.eat_word("HIT") {
            return Ok(ExitDef::Hit);
        }
        if !self.eat_word("EXIT") {
            return Ok(ExitDef::Never);
        }
        // `EXIT Int` and `EXIT :: Int` mean the same.
        self.eat("::");
        Ok(ExitDef::Exit(if self.at_name() { self.parse_sorts()? } else { Vec::new() }))
    }

    fn proc_def(&mut self) -> TxsRead<()> {
        let (name, channels, params, exit) = self.process_heading()?;
        // Before the body is read: its behaviours are marked with the number that the process is about to
        // get.
        self.owner = Some(self.spec.processes.len());
        let body = self.parse_behaviour()?;
        self.expect_word("ENDDEF")?;
        let shown = name.text.clone();
        let is_automaton = false;
        self.spec.processes.push(ProcDef { name, shown, channels, params, exit, body, is_automaton });
        Ok(())
    }

    /// `CHAN IN A, B CHAN OUT C`
    fn parse_interface(&mut self) -> TxsRead<(Vec<Name>, Vec<Name>)> {
        self.expect_word("CHAN")?;
        self.expect_word("IN")?;
        let inputs = if self.at_name() { self.parse_names("the name of a channel")? } else { Vec::new() };
        // Some public texts leave out the half that is empty.
        if !self.eat_word("CHAN") {
            return Ok((inputs, Vec::new()));
        }
        self.expect_word("OUT")?;
        let outputs = if self.at_name() { self.parse_names("the name of a channel")? } else { Vec::new() };
        Ok((inputs, outputs))
    }

    /// `SYNC { A | B }, { C }`
    fn parse_sync(&mut self) -> TxsRead<Option<Vec<Vec<Name>>>> {
        if !self.eat_word("SYNC") {
            return Ok(None);
        }
        let mut sets = Vec::new();
        loop {
            self.expect_sign("{")?;
            let mut set = vec![self.expect_name("the name of a channel")?];
            while self.eat("|") {
                set.push(self.expect_name("the name of a channel")?);
            }
            self.expect_sign("}")?;
            sets.push(set);
            if !self.eat(",") {
                return Ok(Some(sets));
            }
        }
    }

    /// Parses a model, or a mapper, which has the same parts.
    fn model_def(&mut self, what: &str) -> TxsRead<ModelDef> {
        let name = self.parse_heading(what)?;
        let (inputs, outputs) = self.parse_interface()?;
        let sync = self.parse_sync()?;
        self.expect_word("BEHAVIOUR")?;
        let body = self.parse_behaviour()?;
        self.expect_word("ENDDEF")?;
        Ok(ModelDef { name, inputs, outputs, sync, body })
    }

    fn purpose_def(&mut self) -> TxsRead<()> {
        let name = self.parse_heading("the name of a purpose")?;
        let (inputs, outputs) = self.parse_interface()?;
        let mut goals = Vec::new();
        while self.eat_word("GOAL") {
            let goal = self.expect_name("the name of a goal")?;
            self.expect_sign("::=")?;
            goals.push((goal, self.parse_behaviour()?));
        }
        self.expect_word("ENDDEF")?;
        self.spec.purposes.push(PurposeDef { name, inputs, outputs, goals });
        Ok(())
    }

    fn connect_def(&mut self) -> TxsRead<()> {
        let name = self.parse_heading("the name of a connection")?;
        // A command that starts the system, in some public texts: `ioxide.toml` has it under `start`.
        if self.eat_word("EWORLD") {
            self.expect_text()?;
        }
        let is_client = self.eat_word("CLIENTSOCK");
        if !is_client {
            self.expect_word("SERVERSOCK")?;
        }
        let (mut sockets, mut codecs) = (Vec::new(), Vec::new());
        loop {
            if self.at_word("CHAN") {
                sockets.push(self.parse_socket()?);
            } else if self.at_word("ENCODE") || self.at_word("DECODE") {
                codecs.push(self.parse_codec()?);
            } else {
                break;
            }
        }
        self.expect_word("ENDDEF")?;
        self.spec.connections.push(ConnectDef { name, is_client, sockets, codecs });
        Ok(())
    }

    /// Parses one socket of a connection: channel, host and port.
    fn parse_socket(&mut self) -> TxsRead<TxsSocket> {
        self.expect_word("CHAN")?;
        if !self.eat_word("IN") {
            self.expect_word("OUT")?;
        }
        let channel = self.expect_name("the name of a channel")?;
        self.expect_word("HOST")?;
        let host = self.expect_text()?;
        self.expect_word("PORT")?;
        let port = self.expect_number()?;
        Ok(TxsSocket { channel, host, port })
    }

    /// Parses an `ENCODE` or `DECODE` line of a connection.
    fn parse_codec(&mut self) -> TxsRead<TxsCodec> {
        let is_encode = self.at_word("ENCODE");
        self.bump();
        let channel = self.expect_name("the name of a channel")?;
        let message = self.parse_offers()?;
        self.expect_sign(if is_encode { "->" } else { "<-" })?;
        let span = self.span();
        match <[_; 1]>::try_from(self.parse_offers()?) {
            Ok([text]) => Ok(TxsCodec { is_encode, channel, message, text }),
            Err(_) => Err(self
                .sink
                .error(|| Diagnostic::new(Code::TxsSyntax, span, "one text is sent or received here"))),
        }
    }
}

/// Removes the variables that offers bind from the names that are free behind them.
fn without_taken(names: &mut BTreeSet<String>, offered: &[super::tree::OfferedValue]) {
    for one in offered {
        if let super::tree::OfferedValue::Take(var) = one {
            names.remove(&var.name.text);
        }
    }
}
