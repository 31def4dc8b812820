//! Times as people write them: `500ms`, `90s`, `10min`, `8h`, and `none` for a limit.

use std::time::Duration;

use thiserror::Error;

/// The time that a command may take for its analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// At most this time.
    Within(Duration),
    /// No limit.
    Unlimited,
}

impl TimeLimit {
    /// Returns the time; `None` if it is unlimited.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Within(time) => Some(time),
            Self::Unlimited => None,
        }
    }
}

/// The reason why a text is no time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnreadableTime {
    /// The unit is missing or unknown.
    #[error("write a number and `ms`, `s`, `min` or `h`, such as \
             `10min`{}", if *.or_none { "; or `none`" } else { "" })]
    Unit {
        /// True if the text could also have been `none`, as for a limit.
        or_none: bool,
    },
    /// The text before the unit is not a number above 0.
    #[error("`{0}` is not a time above 0")]
    Number(String),
}

/// Reads a time.
pub fn duration(text: &str) -> Result<Duration, UnreadableTime> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(UnreadableTime::Unit { or_none: false }),
    };
    let time = number.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n * seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| UnreadableTime::Number(text.to_owned()))
}

/// Reads a limit: a time, or `none`.
pub fn time_limit(text: &str) -> Result<TimeLimit, UnreadableTime> {
    match (text, duration(text)) {
        ("none", _) => Ok(TimeLimit::Unlimited),
        (_, Ok(time)) => Ok(TimeLimit::Within(time)),
        (_, Err(UnreadableTime::Unit { .. })) => Err(UnreadableTime::Unit { or_none: true }),
        (_, Err(why)) => Err(why),
    }
}
