//! Steps of a walk as text, and back: `?coin(n: 3)`, `!tea`, `quiet`, `+1.5s`.
//!
//! `label` reads the texts that [`label_text`] writes, so a path of them can be passed on to other people.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::Sts;
use ioxide_model::term::TermPool;
use ioxide_record::typed;

use super::ModelWalk;
use super::error::WalkError;

/// The greatest length of a step that is read. In bytes. Chosen by feel: as long as a large value.
const MAX_TEXT: usize = 4 << 20;
/// The greatest length of a time that is read. In characters: more than any number of seconds has.
const MAX_TIME: usize = 64;

/// `label` as a step of a path.
#[must_use]
pub fn label_text(pool: &TermPool, sts: &Sts, label: &Label) -> String {
    match label {
        Label::Quiescence => "quiet".into(),
        Label::Input(..) | Label::Output(..) | Label::Delay(_) => label.show(pool, sts),
    }
}

/// The label that `text` writes in full, wherever the walk is; `None` if something is left out or wrong.
#[must_use]
pub fn parse_complete_label(pool: &TermPool, sts: &Sts, text: &str) -> Option<Label> {
    match typed::read_message(pool, sts, text.trim()) {
        Ok(typed) => typed.label(sts),
        Err(_) => None,
    }
}

/// Returns the label that `text` denotes; fields left out get values that fit.
pub(super) fn parse_label(walk: &mut ModelWalk<'_>, text: &str) -> Result<Label, WalkError> {
    let text = text.trim();
    if text.len() > MAX_TEXT {
        return Err(WalkError::TooLong(text.len()));
    }
    if matches!(text, "quiet" | "delta" | "δ") {
        return Ok(Label::Quiescence);
    }
    if let Some(time) = text.strip_prefix('+').or_else(|| text.strip_prefix("wait ")) {
        return parse_duration(time.trim()).map(Label::Delay);
    }
    let typed = typed::read_message(walk.cx.pool, walk.cx.sts, text)?;
    if let Some(label) = typed.label(walk.cx.sts) {
        return Ok(label);
    }
    let choices = walk.choices();
    let mut fits = choices.iter().filter(|choice| choice.gate == typed.gate);
    fits.find_map(|choice| choice.label_with(&mut walk.cx, &typed.values).ok()).ok_or(WalkError::NothingFits)
}

/// A time as models write it (`600ms`, `1.5s`, `2min`), or a number of seconds.
///
/// # Errors
/// If the text is no time, or a negative one.
pub fn parse_duration(text: &str) -> Result<Rational, WalkError> {
    if text.len() > MAX_TIME {
        return Err(WalkError::TimeTooLong);
    }
    let units = [("ms", (1, 1000)), ("min", (60, 1)), ("h", (3600, 1)), ("s", (1, 1))];
    let unit = units.iter().find_map(|(name, scale)| Some((text.strip_suffix(name)?, *scale)));
    let (number, (numer, denom)) = unit.unwrap_or((text, (1, 1)));
    let scale = Rational::new(numer.into(), denom.into()).unwrap_or(Rational::ONE);
    match number.trim().parse::<Rational>() {
        Ok(time) if !time.is_negative() => Ok(&time * &scale),
        Ok(_) => Err(WalkError::NegativeTime(text.to_owned())),
        Err(_) => Err(WalkError::NotATime(text.to_owned())),
    }
}
