//! Connections: their checks, and the hint how to write them into `ioxide.toml`.

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;

use super::channels::field_name;
use super::check::ProcessInterface;
use super::tree::{ConnectDef, FormulaKind, OfferedValue, TxsCodec, TxsExpr};
use super::typing::{Scope, Typing};
use super::words::Vocabulary;
use crate::sink::FindingSink;

/// The functions between values and texts.
const WRITERS: [&str; 4] = ["toString", "fromString", "toXml", "fromXml"];

/// Checks `connection` and adds a hint how to write it into `ioxide.toml`.
pub(super) fn connection(
    connection: &ConnectDef,
    vocabulary: &Vocabulary,
    interface: &ProcessInterface,
    pool: &TermPool,
    sink: &mut FindingSink,
) {
    let mut pool = pool.clone();
    for socket in &connection.sockets {
        unknown_channel(&socket.channel, interface, sink);
    }
    for codec in &connection.codecs {
        if unknown_channel(&codec.channel, interface, sink) {
            continue;
        }
        let sorts = interface.channels[&codec.channel.text].clone();
        CodecCheck { words: vocabulary, pool: &mut pool, sink }.check_codec(codec, &sorts);
    }
    sink.push(hint(connection, interface));
}

fn unknown_channel(name: &crate::ast::Name, interface: &ProcessInterface, sink: &mut FindingSink) -> bool {
    let unknown = !interface.channels.contains_key(&name.text);
    if unknown {
        let message = format!("there is no channel `{}`", name.text);
        sink.error(|| Diagnostic::new(Code::UnknownGate, name.span, message));
    }
    unknown
}

/// An offered value with its sort.
type OfferedSide<'a> = (&'a OfferedValue, Sort);

struct CodecCheck<'a> {
    words: &'a Vocabulary,
    pool: &'a mut TermPool,
    sink: &'a mut FindingSink,
}

impl CodecCheck<'_> {
    /// Checks a codec; variables received on one side are in scope on the other.
    fn check_codec(&mut self, codec: &TxsCodec, sorts: &[Sort]) {
        if codec.message.len() != sorts.len() {
            let message = format!("channel `{}` has {} values", codec.channel.text, sorts.len());
            self.sink.error(|| Diagnostic::new(Code::ArgumentCount, codec.channel.span, message));
            return;
        }
        let text = [(&codec.text, Sort::Str)];
        let message: Vec<OfferedSide<'_>> = codec.message.iter().zip(sorts.iter().copied()).collect();
        let (from, to): (&[OfferedSide<'_>], &[OfferedSide<'_>]) =
            if codec.is_encode { (&message, &text) } else { (&text, &message) };
        let mut scope = Scope::new();
        for &(offered, sort) in from {
            match offered {
                OfferedValue::Take(var) => {
                    let id = self.pool.declare(&var.name.text, sort);
                    scope.insert(var.name.text.clone(), self.pool.var(id));
                }
                OfferedValue::Give(value) => self.report_received(value),
            }
        }
        for &(offered, sort) in to {
            match offered {
                OfferedValue::Give(value) => self.check_sent(value, sort, &scope),
                OfferedValue::Take(var) => {
                    let message = "a value is given here with `!`";
                    self.sink.error(|| Diagnostic::new(Code::TxsSyntax, var.name.span, message));
                }
            }
        }
    }

    /// Checks a value that is sent; functions between values and texts are left to `ioxide.toml`.
    fn check_sent(&mut self, value: &TxsExpr, sort: Sort, scope: &Scope) {
        let mut applied = BTreeSet::new();
        super::typing::collect_applied(value, &mut applied);
        let is_text = |(name, _): &(String, usize)| WRITERS.contains(&name.as_str());
        let mut muted = FindingSink::default();
        let sink = if applied.iter().any(is_text) { &mut muted } else { &mut *self.sink };
        _ = Typing { words: self.words, pool: self.pool, sink }.check(value, sort, scope);
    }

    fn report_received(&mut self, value: &TxsExpr) {
        self.sink.error(|| Diagnostic::new(Code::TxsSyntax, value.span, "a value is taken here with `?`"));
    }
}

/// Returns the hint with the line for `ioxide.toml`.
fn hint(connection: &ConnectDef, interface: &ProcessInterface) -> Diagnostic {
    let message = format!("connection `{}` belongs in `ioxide.toml`", connection.name.text);
    let mut hint = Diagnostic::new(Code::ConnectionHint, connection.name.span, message);
    if !connection.is_client {
        return hint.note("ioxide connects to the system, it does not wait for it: let the system listen");
    }
    let mut addresses: Vec<String> =
        connection.sockets.iter().map(|socket| format!("{}:{}", socket.host, socket.port)).collect();
    addresses.dedup();
    let address = addresses.first().cloned().unwrap_or_default();
    let (mut inputs, mut outputs, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for codec in &connection.codecs {
        let name = &codec.channel.text;
        let sorts = interface.channels.get(name).map_or(&[][..], Vec::as_slice);
        match (codec.is_encode, words_of(codec, sorts)) {
            (true, Some(words)) => inputs.push(format!("{name} = {words:?}")),
            (false, Some(words)) => outputs.push(format!("{name} = '{words}'")),
            (_, None) => open.push(name.as_str()),
        }
    }
    let mut sorts =
        connection.codecs.iter().filter_map(|codec| interface.channels.get(&codec.channel.text)).flatten();
    let has_truth = sorts.any(|sort| matches!(sort, Sort::Bool | Sort::Data(_)));
    let truth = if has_truth { "truth = [\"True\", \"False\"], " } else { "" };
    hint = hint.help(format!(
        "write there: sut.{} = {{ kind = \"text\", address = \"{address}\", reset = \"reconnect\", {truth}inputs = \
         {{ {} }}, outputs = {{ {} }} }}",
        connection.name.text.to_lowercase(),
        inputs.join(", "),
        outputs.join(", "),
    ));
    if !open.is_empty() {
        hint = hint.note(format!(
            "write the texts of `{}` yourself: a template for an input, a pattern for an output",
            open.join("`, `")
        ));
    }
    if addresses.len() > 1 {
        hint = hint.note(
            "there are several addresses: each is a connection of its own, `sut.NAME.connections.CLIENT`",
        );
    }
    hint
}

/// Returns the template or the pattern equivalent to `codec`; `None` if it is not plain.
fn words_of(codec: &TxsCodec, sorts: &[Sort]) -> Option<String> {
    if codec.is_encode {
        let OfferedValue::Give(text) = &codec.text else { return None };
        return template(text, codec);
    }
    let (OfferedValue::Take(text), [OfferedValue::Give(value)], [sort]) =
        (&codec.text, codec.message.as_slice(), sorts)
    else {
        return None;
    };
    let pattern = match sort {
        Sort::Int => "-?[0-9]+",
        // Constructors have their fields in brackets, in order; the adapter reads them.
        Sort::Str | Sort::Data(_) => ".*",
        Sort::Bool => "True|False",
        _ => return None,
    };
    (plain_var(value)? == text.name.text).then(|| format!("(?P<{}>{pattern})", field_name(0)))
}

/// Returns a template of texts and values one after the other; `None` for anything else.
fn template(text: &TxsExpr, codec: &TxsCodec) -> Option<String> {
    if let FormulaKind::Chain(first, rest) = &text.kind {
        let mut whole = template(first, codec)?;
        for (operator, next) in rest {
            if operator.sign != "++" {
                return None;
            }
            whole.push_str(&template(next, codec)?);
        }
        return Some(whole);
    }
    if let FormulaKind::Text(text) = &text.kind {
        return Some(text.replace('{', "{{").replace('}', "}}"));
    }
    let name = plain_var(text)?;
    let is_it = |offered: &OfferedValue| matches!(offered, OfferedValue::Take(var) if var.name.text == name);
    let at = codec.message.iter().position(is_it)?;
    Some(format!("{{{}}}", field_name(at)))
}

/// Returns `x` for `x`, `toString(x)` and `fromString(x)`.
fn plain_var(value: &TxsExpr) -> Option<&str> {
    match &value.kind {
        FormulaKind::Apply(name, args) if args.is_empty() => Some(&name.text),
        FormulaKind::Apply(name, args) if name.text == "toString" || name.text == "fromString" => {
            plain_var(args.first()?)
        }
        _ => None,
    }
}
