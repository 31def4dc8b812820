//! Channels by name.

use ioxide_model::code::Code;
use ioxide_model::compose::{Channel, ChannelDelay, Discipline, NotSeenThrough, see_through};
use ioxide_model::diag::Diagnostic;
use ioxide_model::number::Rational;
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::Model;

use super::constant::{Constants, KnownConstant};
use crate::ast::{ExprKind, Name, PinDecl};
use crate::lexer::lex;
use crate::literal::{self, NumberLiteral};
use crate::parser::Parser;
use crate::sink::{FindingSink, Reported};
use crate::suggest;

/// The reason why a text is no channel, or why a model cannot be seen through one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAChannel(pub String);

/// Parses a channel such as `fifo(capacity: 4, may_lose: true)`.
///
/// # Errors
/// If it says none.
pub fn channel(text: &str) -> Result<Channel, NotAChannel> {
    let mut sources = Sources::new();
    let file = sources.add("<channel>", text);
    let mut sink = FindingSink::default();
    let found = parse_channel(text, file, &mut sink);
    match (found, sink.finish().into_iter().next()) {
        (Ok(found), None) => Ok(found),
        (_, Some(wrong)) => Err(NotAChannel([vec![wrong.message], wrong.helps].concat().join("; "))),
        (Err(_), None) => Err(NotAChannel("a channel is `fifo(capacity: 4)` or `bag(capacity: 4)`".into())),
    }
}

fn parse_channel(text: &str, file: FileId, sink: &mut FindingSink) -> Result<Channel, Reported> {
    let lexed = lex(text);
    let (kind, settings) = Parser::new(text, file, &lexed, sink).parse_channel()?;
    match channel_of(&kind, &settings, &Constants::default()) {
        Ok(channel) => Ok(channel),
        Err(wrong) => Err(sink.report(*wrong)),
    }
}

/// Returns the channel of kind `kind` (`fifo` or `bag`) with these settings.
pub(super) fn channel_of(kind: &Name, settings: &[PinDecl], constants: &Constants) -> KnownConstant<Channel> {
    let discipline = match kind.text.as_str() {
        "fifo" => Discipline::Fifo,
        "bag" => Discipline::Bag,
        other => {
            let message = format!("there is no channel `{other}`");
            let diagnostic = Diagnostic::new(Code::BadChannel, kind.span, message);
            let diagnostic = suggest::suggest_nearest(diagnostic, kind, ["fifo", "bag"].into_iter());
            let help = "channels are `fifo`, which keeps the order, and `bag`, which does not";
            return Err(Box::new(diagnostic.help(help)));
        }
    };
    let mut channel = Channel { discipline, capacity: 1, may_lose: false, may_duplicate: false, delay: None };
    for (at, pin) in settings.iter().enumerate() {
        if settings[..at].iter().any(|other| other.field.text == pin.field.text) {
            let message = format!("`{}` is set twice", pin.field.text);
            return Err(Box::new(Diagnostic::new(Code::BadChannel, pin.field.span, message)));
        }
        match pin.field.text.as_str() {
            "capacity" => channel.capacity = constant_capacity(pin, constants)?,
            "may_lose" => channel.may_lose = yes_or_no(pin)?,
            "may_duplicate" => channel.may_duplicate = yes_or_no(pin)?,
            "min_delay" => delay_of(&mut channel).least = constant_duration(pin, constants)?,
            "max_delay" => delay_of(&mut channel).most = Some(constant_duration(pin, constants)?),
            other => {
                let message = format!("channels have no setting `{other}`");
                let diagnostic = Diagnostic::new(Code::BadChannel, pin.field.span, message);
                let known = ["capacity", "may_lose", "may_duplicate", "min_delay", "max_delay"];
                let diagnostic = suggest::suggest_nearest(diagnostic, &pin.field, known.into_iter());
                let help = "settings are `capacity: 4`, `may_lose: true`, `may_duplicate: true`, `min_delay: 1s` and \
                            `max_delay: 3s`";
                return Err(Box::new(diagnostic.help(help)));
            }
        }
    }
    let is_empty = |delay: &ChannelDelay| delay.most.as_ref().is_some_and(|most| *most < delay.least);
    if channel.delay.as_ref().is_some_and(is_empty) {
        let message = "the longest delay is shorter than the least one";
        return Err(Box::new(Diagnostic::new(Code::BadChannel, kind.span, message)));
    }
    Ok(channel)
}

fn delay_of(channel: &mut Channel) -> &mut ChannelDelay {
    channel.delay.get_or_insert(ChannelDelay { least: Rational::ZERO, most: None })
}

/// Returns the duration of a setting such as `250ms` or `2s`, in seconds.
fn constant_duration(pin: &PinDecl, constants: &Constants) -> KnownConstant<Rational> {
    let written = match &pin.value.kind {
        ExprKind::Number(text) => match literal::parse_number(text) {
            Ok(NumberLiteral::Real(seconds)) => Some(seconds),
            Ok(NumberLiteral::Int(seconds)) => Some(Rational::from(seconds)),
            Err(_) => None,
        },
        _ => constants.int(&pin.value).ok().and_then(|n| i64::try_from(n).ok()).map(Rational::from),
    };
    written.filter(|seconds| !seconds.is_negative()).ok_or_else(|| {
        let message = "a duration such as `250ms` or `2s` is needed here";
        Box::new(Diagnostic::new(Code::BadChannel, pin.value.span, message))
    })
}

/// Returns the capacity of a channel, if the constant is one.
fn constant_capacity(pin: &PinDecl, constants: &Constants) -> KnownConstant<usize> {
    let n = constants.int(&pin.value)?;
    let max = Channel::MAX_CAPACITY;
    usize::try_from(n).ok().filter(|n| (1..=max).contains(n)).ok_or_else(|| {
        let message = format!("a capacity is from 1 to {max}");
        Box::new(Diagnostic::new(Code::BadChannel, pin.value.span, message))
    })
}

fn yes_or_no(pin: &PinDecl) -> KnownConstant<bool> {
    match pin.value.kind {
        ExprKind::Bool(yes) => Ok(yes),
        _ => {
            let message = "`true` or `false` is needed here";
            Err(Box::new(Diagnostic::new(Code::BadChannel, pin.value.span, message)))
        }
    }
}

/// Returns `model` as a tester observes it through `channel`, with one queue for inputs and one for outputs.
///
/// # Errors
/// The reason, if the model cannot be seen through the channel.
pub fn through(model: &Model, channel: &Channel) -> Result<Model, NotAChannel> {
    see_through(model, channel).map_err(|NotSeenThrough(why)| NotAChannel(why))
}
